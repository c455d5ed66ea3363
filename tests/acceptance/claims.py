"""Claims that careless readings of such a log make, and that no answer may assert."""

import re
from dataclasses import dataclass

from .support import plain

_NEGATION = re.compile(
    r"不|没|未|无|非|别|勿|≠|误读|误解|误认|\bnot?\b|n't\b|\bnever\b|\bneither\b|\bnor\b|\bwithout\b"
    r"|rather than|\bcannot\b|instead of|\bmistak",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"如果|若|假如|除非|要是|一旦|才(?:是|会|算|能)|\bif\b|\bwould\b|\bunless\b|\bwhen\b|\bonly\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[。！？；!?;\n]|\.(?=\s|$)")


@dataclass(frozen=True)
class Claim:
    """A pattern, and whether a denial or a condition in the same sentence makes it harmless."""

    name: str
    pattern: str
    deniable: bool = True

    def asserted_in(self, markdown: str) -> list[str]:
        """Return the sentences that assert the claim."""
        guilty = []
        for sentence in _SENTENCE_END.split(plain(markdown)):
            for found in re.finditer(self.pattern, sentence, re.IGNORECASE):
                near = sentence[max(0, found.start() - 60) : found.end() + 20]
                if self.deniable and (_NEGATION.search(near) or _CONDITION.search(near)):
                    continue
                guilty.append(sentence.strip())
        return guilty


_TOKENS_PER_SECOND = r"(?:个\s*)?(?:tokens?|tok)\s*(?:/\s*(?:s\b|秒)|每秒|per second)"
_WHOLE_CLUSTER = r"across|cluster|in total|overall|workers|集群|总共|总计|合计|整体|整个|所有"

FORBIDDEN = (
    Claim("1024 samples", r"(?<![\d.])1,?024\s*(?:个|条|份)?\s*(?:samples?|样本|trajector|轨迹)"),
    Claim("value clipping", r"value[ -]?(?:function )?clip|(?:价值|值)(?:函数)?(?:裁剪|截断)"),
    Claim(
        "policy frozen",
        r"frozen policy|policy (?:(?:is|was|has been|looks?|appears?|almost|nearly|effectively) )*frozen"
        r"|策略(?:几乎|基本|已经|已|被|完全)*冻(?:结|住)",
    ),
    Claim("collapse", r"collaps\w*|崩溃|崩塌|坍塌|坍缩|塌缩"),
    Claim(
        "per-GPU throughput as the cluster's",
        rf"677(?:\.\d+)?\s*{_TOKENS_PER_SECOND}(?![^,，、。\n]{{0,30}}(?:GPU|每|单|卡))"
        rf"[^,，、。\n]{{0,30}}(?:{_WHOLE_CLUSTER})"
        rf"|(?:{_WHOLE_CLUSTER})[^,，、。\n\d]{{0,20}}677(?:\.\d+)?\s*{_TOKENS_PER_SECOND}(?![^,，。\n]{{0,12}}(?:GPU|卡))",
    ),
    Claim(
        "throughput divided by the GPUs once more",
        rf"(?<![\d.,])8[45](?:\.\d+)?\s*{_TOKENS_PER_SECOND}",
        deniable=False,
    ),
    Claim(
        "training reward as accuracy",
        r"(?:准确率|正确率|accuracy)[^。\n%]{0,25}?(?<![\d.])(?:4\.[67]\d*|15(?:\.0\d*)?|12\.7\d*)\s*%",
    ),
    Claim(
        "critic is accurate",
        r"critic(?!/)[^.。\n]{0,40}(?:accurate|well[- ]calibrated|准确|精准)"
        r"|价值(?:网络|模型|函数|估计)[^。\n]{0,15}(?:准确|较准|精准)",
    ),
    Claim(
        "std as an error bar",
        r"\bstd(?:@\w+)?(?![\w/])[^\n]{0,50}(?:error bars?|standard error|误差[棒条]|标准误)"
        r"|(?<![\d.])23(?:\.0+)?\s*%?\s*±\s*(?:0\.21|21)",
    ),
    Claim("InstructGPT", r"InstructGPT", deniable=False),
    Claim(
        "learning is slow",
        r"learning (?:(?:is|too|very|looks|appears|extremely) )*(?:slow|stalled)|slow(?:ly)? learning"
        r"|learns? (?:(?:too|very) )?slowly"
        r"|(?:学习|训练)(?:速度|过程|得)?(?:太|过|过于|很|偏|较|非常|极)?(?:慢|缓慢)",
    ),
)


def asserted(markdown: str) -> dict[str, list[str]]:
    """Return the forbidden claims that a text asserts, each with its sentences."""
    found = {claim.name: claim.asserted_in(markdown) for claim in FORBIDDEN}
    return {name: sentences for name, sentences in found.items() if sentences}

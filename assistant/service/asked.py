"""What somebody asks who pastes a log between a title, some sentences and a question.

The question is where one stands; of a long paragraph only the sentences that ask, with the title before them where they
name nothing ("any idea?"). Where nobody asks anything, a title that tells a symptom ("Value loss is increasing",
奖励一直为 0) is the question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from assistant.ask.understand import looks_like_question

if TYPE_CHECKING:
    from assistant.knowledge import Resolver
    from assistant.model import Run
    from assistant.parsing import Parsed

#: A question stands within so many lines of the text's beginning or end (a program's own remarks stand anywhere);
#: between logs it is only looked for in a text as short as a person pastes by hand.
EDGE, SHORT_PASTE = 3, 60
#: Complaints are looked for in texts of so many lines, and so many sentences that may be some are read.
LONGEST_PASTE, MOST_READ = 400, 6
#: From how many characters on a paragraph is reduced to its sentences that ask; the longest symptom,
#: the longest sentence that is put behind a title, and the longest single line that is taken as it is.
LONG, LONGEST_SYMPTOM, SHORT, LONGEST_LINE = 160, 160, 120, 300
#: Fewest words, or Chinese characters, of a sentence that asks by itself.
WORDS: Final = 4
CHARACTERS: Final = 6
_ASKS: Final = re.compile(
    r"(?i)\bwonder\w*|\bhow\b|\bwhat\b|\bwhy\b|\bwhich\b|\bany idea"
    r"|吗|呢|什么|多少|怎么|怎样|为何|几(?!乎)|是否|能不能|要不要"
)
#: A question that says at which step it asks.
_STEP_NAMED: Final = re.compile(r"(?i)第 ?\d{1,7} ?步|\bstep \d{1,7}\b")
#: A question that says what it supposes: "how much faster could a step get if the waiting were gone?".
_SUPPOSED: Final = re.compile(
    r"(?i)\bhow (?:much|many|fast|long)\b.{4,80}\bif\b|(?:如果|要是|假如).{2,40}(?:多少|几|多[快久])"
)
_OF_TIME: Final = re.compile(r"(?i)\b(?:days?|hours?|minutes?|seconds?|time|long|eta|fast)\b|天|小时|分钟|秒|多久|时间")
#: A sentence that asks, whether or not a mark stands behind it.
_ASKING: Final = re.compile(r"(?i)^\W*(?:hello|hi|hey|so|but|and)?\W*(?:why|how|what)\b|为什么|为何|怎么回事")
_THE_TRAINING: Final = re.compile(r"(?i)\btraining\b|\bmodel\b|\bimprov\w*|\bprogress\b|模型")
_POINTING: Final = re.compile(
    r"(?i)\b(?:it|its|this|that|they|these|those|so|such|too|also|same|he|then|either|both|other)\b"
    r"|(?<!\bis )(?<!\bare )\bthere\b"
    r"|这|那|它|此|该|也|还|同样|其|两个|哪"
)
#: What stands for an apostrophe; names of settings in a bracket, which nobody asks about.
_APOSTROPHE: Final = re.compile(r"(?<=[a-z])[`´’](?=[a-z]{1,2}\b)")
_LISTED: Final = re.compile(r" ?\((?:\w{1,40}, ){2,12}\w{1,40}\)")
_SENTENCE: Final = re.compile(r"[^.?!。？！\n]{1,600}(?:\.(?=\S)[^.?!。？！\n]{0,600}){0,20}[.?!。？！]*")
_VALUE_LINE: Final = re.compile(r"[^?？]{1,100}[:：=]\s*[-+]?\d[\d.,eE+-]*\s*%?\W{0,3}$")
#: A line that only says that the log follows.
_ANNOUNCED: Final = re.compile(
    r"(?i)\s{0,4}(?:here|this|below|following|these|the)\b[^?？]{0,60}\b(?:logs?|outputs?|progress|results?|metrics)\b[^?？]{0,20}$"
    r"|[^?？]{0,20}(?:日志|输出|结果|log)[^?？]{0,8}如下[：:，,]?\s*$"
)
_TAG: Final = re.compile(r"^\s{0,4}(?:#{1,4}\s{1,4})?(?:\[[A-Za-z][\w /-]{1,30}\]\s{0,4}:?\s{0,4}){0,2}")
_SYMPTOM: Final = re.compile(
    r"(?i)\b(?:not|no|never|doesn'?t|don'?t|isn'?t|can'?t|stuck|stays?|always|only|keeps?|becom\w+|nan|inf|zero|increas\w*"
    r"|decreas\w*|drop\w*|ris(?:es|ing)|fall\w*|explod\w*|diverg\w*|collaps\w*|over-?fit\w*|converg\w*|unstable|slow\w*|same|identical|unchanged"
    r"|too|abnormal|weird|strange|wrong|minimi[sz]ed|negative|worse|low|high|fails?|fluctuat\w*|oscillat\w*)\b|=\s?0\b"
    r"|不|没|一直|始终|为\s?0|下降|上升|异常|过拟合|震荡|爆|变差|崩|失败|卡住|负|突然"
)
_LEARNS: Final = re.compile(
    r"(?i)\b(?:does not|doesn'?t|do not|don'?t|is not|isn'?t|never|not) (?:converg|learn)\w*"
    r"|不收敛|没有?收敛|学不会|学不到东西"
)
_STATE: Final = re.compile(
    r"(?i)\b(?:zero|nan|always|constant|stuck|stays?|never|negative|same|identical|unchanged)\b|[=\s]0(?![\d.])"
    r"|(?:\b(?:do|does|is|are|did) not|n't) (?:increas|decreas|chang|improv|mov|go)\w*"
    r"|一直|始终|为\s?0|[不没](?:上升|下降|涨|降|动|变|收敛)|负"
)
_WHY: Final = re.compile(r"(?i)\bwhy\b|为什么|为何|原因")
_CHINESE: Final = re.compile("[\u3400-\u9fff]")
_OVERFITTING: Final = re.compile(r"(?i)over-?fit|过拟合")
_OF_TRAINING: Final = re.compile(
    r"(?i)loss|reward|\brew|\bkl\b|entropy|grad|\blr\b|learning|acc|return|converg|over-?fit|clip|ratio|length|\bstd\b|val|collaps|throughput|speed|\bslow|success|score|accura|entrop|seqlen|memory|\bmfu\b|\btime\b"
    r"|崩|塌|速度|吞吐|慢|耗时|时间|显存|内存|得分|分数|训练|奖励|损失|梯度|熵|收敛|学习|过拟合|长度|截断|准确"
)


def question_in(parsed: Parsed, resolver: Resolver) -> str:
    """The question that stands beside a log; where nothing is asked but help, what is complained of."""
    from assistant.ask.complaints import asks_for_help, asks_more

    asked = _asked_in(parsed, resolver)
    first = next((one.strip() for one in _SENTENCE.findall(asked) if one.rstrip().endswith(("?", "？"))), "")
    asked = _why_alone(asked)
    # what is asked first is what is wrong: further questions ("how do you calculate it?") come after that
    if asked and asks_more(asked, choices=False) and not (first and asks_for_help(first)):
        return asked
    said = _complained(parsed, resolver)
    whole = said in asked and not asks_more(asked, choices=False)
    return asked if not said or whole else f"{said}{'' if said[-1] in '?？' else why(said)}"


def _why_alone(asked: str) -> str:
    """Of several sentences the one that asks why something is as it is, where the others ask for no more than help."""
    from assistant.ask.complaints import asks_more, clauses_of, state_in

    sentences = [one.strip() for one in _SENTENCE.findall(asked) if one.strip()]
    whys = [one for one in sentences if _WHY.search(one) and any(state_in(clause) for clause in clauses_of(one))]
    others = [one for one in sentences if one not in whys]
    alone = len(whys) == 1 and len(others) > 0 and not any(asks_more(one, choices=False) for one in others)
    return whys[0] if alone and _OF_TRAINING.search(whys[0]) else asked


def _complained(parsed: Parsed, resolver: Resolver) -> str:
    """The sentence that states what is wrong with something that the log can tell of: the title's first.

    One that names a metric of the log, or is about the time or the memory, goes before one about the run as a whole;
    one that says what is wrong ("rises") before one that says only that something is ("abnormal").
    """
    from assistant.analysis import Ledger
    from assistant.ask.complaints import clauses_of, complaints_in, sentences, state_in
    from assistant.ask.context import Context
    from assistant.ask.understand import understand
    from assistant.ask.wording import language_of

    if not parsed.runs:
        return ""
    found: list[tuple[int, str]] = []
    read = 0
    for paragraph in parsed.prose if parsed.text_lines <= LONGEST_PASTE else ():
        text = _APOSTROPHE.sub("'", paragraph.text.strip())
        for sentence in sentences("" if _is_printed(text) else text):
            said = _TAG.sub("", sentence).strip()
            if read >= MOST_READ or not any(state_in(clause) for clause in clauses_of(said)):
                continue
            read += 1
            runs = tuple(parsed.runs)
            query = understand(said, resolver, runs, language=language_of(said, "en"))
            complaints = complaints_in(Context(query, runs, resolver, Ledger(runs)), said)
            if complaints:
                named = any(one.metrics or one.matter in {"time", "memory"} for one in complaints)
                vague = all(one.state in {"high", "low"} for one in complaints)
                found.append((2 * (not named) + vague, said))
    return min(found, key=lambda one: one[0])[1] if found else ""


def _asked_in(parsed: Parsed, resolver: Resolver) -> str:
    """The question that stands beside a log: after it first, then before; else a symptom that a title tells."""
    begins = min((min(run.row_lines) for run in parsed.runs if run.row_lines), default=0)
    vague = ""
    for position in ("after", "before", "between"):
        for paragraph in reversed(parsed.prose):
            text = paragraph.text.strip()
            if _is_printed(text):
                continue
            last = paragraph.line + text.count("\n")
            at_edge = {
                "after": parsed.text_lines - last <= EDGE,
                "before": paragraph.line <= 1 + EDGE or 0 < begins - last <= EDGE,
                "between": parsed.text_lines <= SHORT_PASTE,
            }[position]
            if paragraph.position == position and at_edge:
                asked = asking(text)
                if not looks_like_question(asked) and len(text) > len(own := _asking_sentence(text)) > 0:
                    asked = own
                title = asked.splitlines()[0].strip() if asked else ""
                if "\n" in asked and "?" not in asked and "？" not in asked and why(title) and _is_symptom(title):
                    return f"{title}{why(title)}"
                if looks_like_question(asked):
                    states = not asked.rstrip().endswith(("?", "？")) and _OF_TRAINING.search(asked) is not None
                    asked = f"{asked}{why(asked)}" if states and "\n" not in asked else asked
                    if position != "before":
                        return _led(parsed, asked)
                    if _OF_TRAINING.search(asked) or _OF_TIME.search(asked) or _THE_TRAINING.search(asked):
                        return asked
                    vague = vague or asked  # "is something wrong with my process?": another may name what
        if vague:
            return vague
    return _symptom(parsed, resolver)


def _asking_sentence(text: str) -> str:
    """The one sentence of a paragraph that asks without a mark ("Hello, why does it take 7 days."); empty for none."""
    if len(text) > LONGEST_LINE:
        return ""
    found = [one.strip() for one in _SENTENCE.findall(text) if _ASKING.search(one)]
    return found[0] if len(found) == 1 and looks_like_question(found[0]) else ""


def _led(parsed: Parsed, asked: str) -> str:
    """A question below a log that names no quantity ("is this normal?"), led by the title that tells a symptom."""
    first = next((one for one in parsed.prose if one.position == "before" and one.line <= 1 + EDGE), None)
    if first is None or len(asked) > SHORT or _OF_TRAINING.search(asked) or _STEP_NAMED.search(asked):
        return asked
    if _SUPPOSED.search(asked) and not _POINTING.search(asked):
        return asked
    title = _TAG.sub("", first.text.strip().splitlines()[0]).strip()
    mark = "" if title.endswith((".", "!", "。", "！", "?", "？")) else "。" if _CHINESE.search(asked) else "."
    return f"{title}{mark} {asked}" if _is_symptom(title) and title not in asked else asked


def _is_printed(text: str) -> bool:
    """Whether a program wrote it: a line stands there twice, and none asks."""
    lines = text.splitlines()
    return len(set(lines)) < len(lines) and "?" not in text and "？" not in text


def asking(text: str) -> str:
    """Of a paragraph the sentences that ask, led by its first line where they name nothing; short ones as they are."""
    text = _without_values(text[_TAG.match(text).end() :])  # type: ignore[union-attr]
    text = _LISTED.sub("", _APOSTROPHE.sub("'", text))
    if len(text) <= LONG and (own := _own_question(text)):
        return own
    if len(text) <= LONG or ("\n" not in text and len(text) <= LONGEST_LINE):
        return text
    sentences = [found.strip() for found in _SENTENCE.findall(text) if found.strip()]
    asked = [one for one in sentences if one.endswith(("?", "？"))]
    if not asked:
        return text
    title = text.splitlines()[0].strip()
    if title.endswith(("?", "？")):
        return " ".join([title, *(one for one in asked if len(one) <= SHORT and one not in title)][:2])
    if _is_symptom(title):
        brief = [one for one in asked if len(one) <= SHORT]
        return f"{title} {brief[-1]}" if brief else title
    joined = " ".join(asked)
    if len(joined.split()) < WORDS or not _OF_TRAINING.search(joined):
        joined = f"{title} {joined}" if not text.startswith(joined) else joined
    return joined


def _own_question(text: str) -> str:
    """The sentences that ask, where they name what they ask about and others beside them only tell; else empty."""
    sentences = [found.strip() for found in _SENTENCE.findall(text) if found.strip()]
    asked = [one for one in sentences if one.endswith(("?", "？"))]
    joined = " ".join(asked)
    told = [one for one in sentences if one not in asked]
    if any((looks_like_question(one) and len(one) <= SHORT // 2) or _ASKS.search(one) for one in told):
        return ""
    enough = len(joined.split()) >= WORDS or len(_CHINESE.findall(joined)) >= CHARACTERS
    if len(asked) == len(sentences) or not enough or _POINTING.search(joined):
        return ""
    named = _OF_TRAINING.search(joined) or _THE_TRAINING.search(joined) or _STEP_NAMED.search(joined)
    return joined if named else ""


def _without_values(text: str) -> str:
    """A paragraph that asks, without lines of one value ("Final mean reward: 14.1") that stand beside the question."""
    lines = text.splitlines()
    if len(lines) < 2 or not any(line.rstrip().endswith(("?", "？")) for line in lines):
        return text
    return "\n".join(line for line in lines if not (_VALUE_LINE.match(line) or _ANNOUNCED.match(line))) or text


def _symptom(parsed: Parsed, resolver: Resolver) -> str:
    """The first line before a log, if it tells what is wrong with a metric that the log holds."""
    first = next((one for one in parsed.prose if one.position == "before" and one.line <= 1 + EDGE), None)
    if first is None or not parsed.runs:
        return ""
    title = _TAG.sub("", first.text.strip().splitlines()[0]).strip()
    if not _is_symptom(title):
        return ""
    if _is_answerable(title, parsed.runs, resolver):
        return f"{title}{why(title)}"
    learns = _LEARNS.search(title)  # said of a script or a game whose name the question would be about
    return learns[0] if learns is not None else ""


def _is_symptom(title: str) -> bool:
    """Whether a line tells what is wrong with a quantity of training."""
    fits = 4 <= len(title) <= LONGEST_SYMPTOM
    return fits and _SYMPTOM.search(title) is not None and _OF_TRAINING.search(title) is not None


def why(title: str) -> str:
    """What turns a state that a title complains of ("reward always 0") into the question that it asks."""
    if _STATE.search(title) is None or _WHY.search(title) is not None:
        return ""
    return "，为什么？" if _CHINESE.search(title) else " - why?"


def _is_answerable(text: str, runs: Sequence[Run], resolver: Resolver) -> bool:
    """Whether a statement is about a metric of the log, or about learning at all."""
    from assistant.ask.understand import understand
    from assistant.ask.wording import language_of

    query = understand(text, resolver, tuple(runs), language=language_of(text, "en"))
    held = {key for run in runs for key in run.columns}
    named = any(mention.key in held for mention in query.mentions)
    timed = query.intent == "bottleneck" or "slowdown" in query.topics
    return named or timed or "learning" in query.topics or _OVERFITTING.search(text) is not None

"""A question's text as the patterns see it, and the language of its answer."""

from __future__ import annotations

import re
from functools import lru_cache

from assistant.ask.mixed import unmixed
from assistant.ask.pinyin import in_characters, in_letters
from assistant.ask.plainly import plain
from assistant.ask.slips import mended
from assistant.ask.spoken import as_written
from assistant.ask.steps import western_numbers
from assistant.knowledge.terms import fold

FULL_WIDTH = str.maketrans({chr(0xFF01 + i): chr(0x21 + i) for i in range(94)} | {"\u3000": " "})
_CHINESE = re.compile(r"[\u3400-\u9fff]+")
_INJECTED = re.compile(
    r"(?i)(?:please\s+)?(?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:the\s+|your\s+"
    r"|my\s+)?(?:previous|prior|above|"
    r"earlier|system)?\s*(?:instructions?|prompts?|messages?|rules?|guidelines?)[,.;:\s]*(?:and\s+)?"
    r"|(?:忽略|无视|忘(?:记|掉)|抛开|抛弃|撇开|跳过|清空|覆盖|不(?:要|用)?(?:理会|管)|别(?:理会?|管))(?:掉)?"
    r"(?:之前|以上|上面|前面|先前|所有|一切|你的)*的?(?:所有|一切)?(?:指令|提示词?|设定|要求|规则|指示)[,。.;:\s]*"
    r"|(?:之前|以上|上面|前面|先前|此前|所有|一切|你的)+的?(?:所有|一切)?(?:指令|提示词?|设定|要求|规则|指示)"
    r"(?:全部?|统统|通通|一律|都|全都|从此|现在)*"
    r"(?:作废|不算数?|失效|无效|清空|取消|忽略|忘(?:掉|了|记)|不用管|别管|删掉|推翻)了?[,。.;:\s]*"
    r"|(?:另外|并且|然后|还有|and|also)?[,，\s]*(?:从现在(?:开始|起)|from now on)[,，]?\s*"
    r"(?:你|请|you|please|only|always|never"
    r"|speak|talk|act)[^。.!?？;；\n]*"
    r"|^\s*(?:system|系统提示|系统指令)\s*:[^.。!?\n]*[.。!?\n]\s*"
)
#: What is to be said, ordered right after instructions were set aside: no question either.
_ORDERED = re.compile(
    r"(?i)^[\s,，]*(?:just |only |simply )?(?:print|say|output|reply|answer|respond|write)\b"
    r"[^?？。.;；\n]*[。.;；\n]?"
    r"|^[\s,，]*(?:只|直接)?(?:输出|回复|说(?!说|一?下|明|到|起)|打印)[^?？。.;；\n]*[。.;；\n]?"
    r"|^[\s,，]*(?:the only thing|all|everything) (?:that )?(?:you|to) "
    r"(?:(?:may|can|should|will|must|are allowed to) )?"
    r"(?:print|say|output|reply|answer|respond|write)s? (?:with )?is\b[^?？;；\n]*"
)
#: A part that the machine is to play, beside what is asked.
_PERSONA = re.compile(
    r"(?i)(?:^|(?<=[.;!?。,]))\s*(?:(?:and |then |also |from now on )?"
    r"(?:you(?:'re| are) now|pretend (?:to be|that you are|you are|you're)"
    r"|act (?:as|like)|role-?play as|play the (?:role|part) of)\b[^.?!;\n]{1,60}[.?!;]\s*)"
    r"|(?:^|(?<=[,，。.;；?？!！]))\s*(?:然后|另外|还有|并且|顺便)?[,，]?\s*请?"
    r"(?:你(?:现在|从此|以后)?(?:就|要)?(?:是(?![不否谁什怎哪])|当)|你?(?:现在|从此)?(?:扮演|假装(?:自己)?(?:是|成)?|化身(?:为|成)?))"
    r"(?:一?(?:只|条|位|名|个|头))?[^,，。.?？!！;；\n\d]{1,12}(?:[,，]\s*只?(?:能|准|许|会|可以)[^,，。.?？!！;；\n]{1,12})?(?:[,，。.;；!！]|$)"
)
#: So long is a text at most in which such a part is looked for.
_PLAYED = 600
#: What asks for something, of a text without such a part.
_ASKED = re.compile(
    r"(?i)多少|几|怎|如何|咋|什么|啥|健康|正常|说说|讲讲|看看|[?？]|\b(?:what|how|is|are|did|does|which|when|where|show|tell|give)\b"
)
_TO_ENGLISH = re.compile(
    r"(?i)\b(?:(?:switch|change|go|swap)(?:ed)?\s+(?:back\s+)?)?(?:in|into|to)\s+english\b|\benglish\s+(?:please|pls|version)|^\s*(?:english|英文|英语)\s*[.!?。]*\s*$"
    r"|^\s*(?:英文|英语)\s*[,，:：]|[,，]\s*(?:英文|英语)\s*[.!?。]*\s*$"
    r"|(?:用|以|换成?|改成?|说|讲|(?:translate|翻译|翻|译)\s*[成为到]?)\s*(?:英文|英语|english)|(?:英文|英语|english)\s*(?:回答|回复|说|讲|版|吧|please|pls|plz)"
    r"|(?:要|来个?|给我?个?)(?:一?份)?(?:英文|英语|english)(?:的)?\s*[.!?。]*\s*$"
)
_TO_CHINESE = re.compile(
    r"(?i)\b(?:(?:switch|change|go|swap)(?:ed)?\s+(?:back\s+)?)?(?:in|into|to)\s+chinese\b|\bchinese\s+(?:please|pls|version)|^\s*chinese\s*[.!?]*\s*$"
    r"|(?:用|以|换成?|改成?|说|讲)\s*(?:中文|汉语|chinese)|(?:中文|汉语|chinese)\s*(?:回答|回复|说|讲|版|吧|please|pls|plz)"
    r"|(?:要|来个?|给我?个?)(?:一?份)?(?:中文|汉语|chinese)(?:的)?\s*[.!?。]*\s*$"
    r"|(?:^|[\s,，])中文\s*[.!?。]?\s*$|^\s*(?:中文|汉语)\s*[,，:：]"
)
#: "Now the score", "OK, now for step 12": what is asked next, rather than the latest value.
_NOW = re.compile(
    r"(?i)^\s*(?:(?:ok(?:ay)?|and|so|well|alright|right)\b[\s,]*)*now\b[\s,]+"
    r"(?=(?:the|for|at|on|in|with|and|do|show|give|tell|what|how|same|step|let)\b)"
)
#: Chinese words that name what a metric measures: they stand in English sentences too ("show 熵 at step 5").
_CHINESE_NAMES = re.compile(
    r"[策略]{0,2}熵|奖励|损失|梯度(?:范数)?|学习率|吞吐量?|显存|长度|得分|分数|准确率|第\s*\S{1,4}\s*步"
)
#: Signs that a Chinese keyboard types.
_CHINESE_SIGNS = re.compile(r"[？！，。、；：（）“”]")
#: Those of them that no English text holds.
_TYPED_IN_CHINESE = re.compile(r"[？！，。、；：（）]")
#: Words that an English sentence is built with; a row of terms has none of them.
_ENGLISH_SENTENCE = re.compile(
    r"(?i)\b(?:what|which|how|why|when|where|who|is|are|was|were|does|did|do|has|have|had|the|an?|of|my|our|your|this"
    r"|that|should|can|could|would|will|please|pls|tell|show|give|explain|compare)\b|\w'\w"
)
#: Where Chinese and a word of letters meet without a blank: "最后lr多少", "math500最高".
_SEAM = re.compile(r"(?<=[\u3400-\u9fff])(?=[A-Za-z_])|(?<=[A-Za-z_])(?=[\u3400-\u9fff])")
_SEAM_OF_FIGURES = re.compile(r"([A-Za-z_][A-Za-z0-9_]*\d)(?=[\u3400-\u9fff])")
#: English terms that a Chinese question may consist of.
_FEW_TERMS = 3
#: More of them are an English text, whatever signs stand between them.
_MOST_TERMS = 8


_FEW = dict(zip("二三四五六七八九十", range(2, 11), strict=True))
#: Spoken forms, and the words that the patterns know them by.
_SPOKEN = (
    (re.compile(r"最负(?![载责担面])"), "最低"),
    (re.compile(r"(?<=[前后末头])\s*1/([2345])(?![\d/])"), lambda match: f"{'二三四五'[int(match[1]) - 2]}分之一"),
    (re.compile(r"(?i)(?<![\w/.@-])(steps?|iters?|epochs?)(?=\d{1,7}\s*(?:步\s*)?(?:[→⟶~～–—-]|=>|到|至|vs))"), r"\1 "),
    (re.compile(r"(?i)\bmost negative\b"), "lowest"),
    (re.compile(r"(?i)\bleast negative\b"), "highest"),
    (
        re.compile(
            r"(?i)\bwhat (?:made|makes|is making|was making)\b"
            r"(?= .{1,40}\b(?:so|this|that|much|take|go|jump|drop|rise)\b)"
        ),
        "why was",
    ),
    (re.compile(r"(?i)[,;] *what for *\?*$"), ", why?"),
    (
        re.compile(
            r"(?i)\b(?:validations?|evals?|evaluations?|testing) (?:is |are )?(?:not|n't) (?:counted|included)"
            r"|\b(?:without|excluding|not counting|leaving out) (?:the )?(?:validations?|evals?|evaluations?|testing)\b"
        ),
        "training steps only",
    ),
    (re.compile(r"(?:(?<=[下上内里])|(?<=\d))(是|在)几步"), r"\1第几步"),
    (re.compile(r"(?<![第哪好十数])几步(?=就?(?:开始|起))"), "第几步"),
    (re.compile(r"前([二三四五六七八九十])(?=(?:最)?[大高低小慢长快名])"), lambda match: f"前{_FEW[match[1]]}"),
)
_MOST_DIGITS = 15
#: A run of digits longer than any number; patterns of numbers would take time by the square of its length.
_DIGITS = re.compile(r"\d{25,}")


def normalised(question: str) -> str:
    """Half-width signs, simplified characters and figures for numerals; instructions to the machine left out.

    Characters may move, so that positions found in the result hold for it alone.
    """
    return _normalised(question) if len(question) <= _KEPT else _normalised.__wrapped__(question)


#: So long are the texts at most whose form is kept: one question is read by many readers.
_KEPT = 2000


@lru_cache(maxsize=512)
def _normalised(question: str) -> str:
    text = _DIGITS.sub(lambda match: match.group()[:_MOST_DIGITS], question.translate(FULL_WIDTH).strip())
    text = in_characters(text)
    text = _CHINESE.sub(lambda match: fold(match.group()), text)
    rest = _ORDERED.sub(" ", _INJECTED.sub(" ", text)).strip() if _INJECTED.search(text) else text
    alone = _PERSONA.sub(" ", rest).strip() if len(rest) <= _PLAYED else rest
    rest = alone if alone != rest and _ASKED.search(alone) else rest
    rest = _NOW.sub("", rest)
    for said, meant in _SPOKEN:
        rest = said.sub(meant, rest)
    return western_numbers(as_written(unmixed(plain(mended(seamed(rest))))))


@lru_cache(maxsize=256)
def as_said(text: str) -> str:
    """A text with a blank where Chinese meets letters, each sentence in one plain language; its figures as typed."""
    return unmixed(plain(mended(seamed(text))))


def seamed(text: str) -> str:
    """A text with a blank where Chinese meets a word of letters: both ways of typing are read by one set of words."""
    return _SEAM_OF_FIGURES.sub(r"\1 ", _SEAM.sub(" ", text))


def injected(question: str) -> bool:
    """Whether a question holds instructions to the machine, which are no part of what it asks."""
    return _INJECTED.search(question.translate(FULL_WIDTH)) is not None


#: "Translate to Chinese: good evening": a language of something else than the answer.
_TO_TRANSLATE = re.compile(
    r"(?i)^\W*(?:please |can you |could you )?translat\w* (?:\w+ ){0,4}?(?:in|into|to) (?:english|chinese)"
    r"\s*[:\"“”']\s*\w"
)


def language_asked(text: str) -> str | None:
    """The language that a question wants its answer in (``in English please``), if it says so."""
    clean = text.translate(FULL_WIDTH)
    if _TO_TRANSLATE.search(clean):
        return None
    if _TO_ENGLISH.search(clean):
        return "en"
    return "zh" if _TO_CHINESE.search(clean) else None


def without_language(text: str) -> str:
    """A text without the words that ask for a language ("now in English, and for step 90"), where more is asked."""
    rest = re.sub(r"(?i)^\s*now\b[\s,]*", "", _TO_CHINESE.sub(" ", _TO_ENGLISH.sub(" ", text)))
    return rest.strip(" ,，.。") if rest != text and re.search(r"\w", rest) and language_asked(text) else text


#: Characters by which a long text's language is told.
_LONGEST = 20_000


def language_of(text: str, default: str = "en") -> str:
    """Language of the answer to a question: the one it asks for, else the one its sentence is in.

    A sentence with Chinese words other than names of metrics is Chinese, English terms or not, unless English
    outweighs it by far. Text with neither (empty, or nothing but keys) gives the default.
    """
    text = text[:_LONGEST]
    asked = language_asked(text)
    if asked is not None:
        return asked
    if in_letters(text):
        return "zh"  # "entropy shi duoshao"
    rest = re.sub(r"`[^`]*`|[A-Za-z_-]+(?:[/_@][A-Za-z0-9_@.-]+)+|(?:step|第)\s*\d+\s*步?|\d[\d.,e+-]*", " ", text)
    chinese = len(re.findall(r"[\u3400-\u9fff]", rest))
    english = len(re.findall(r"[A-Za-z]{2,}", rest))
    if not chinese and english <= _FEW_TERMS and re.search(r"[\u3400-\u9fff]", text):
        return "zh"  # "第 1 步 value loss"
    signed = not chinese and _TYPED_IN_CHINESE.search(text) is not None
    if signed and english <= _MOST_TERMS and not _ENGLISH_SENTENCE.search(rest):
        return "zh"  # "grad norm，step 30？": terms alone, between signs of a Chinese keyboard
    if not chinese and not english:
        return "zh" if _CHINESE_SIGNS.search(text) else default
    if chinese >= english:
        return "zh"
    sentence = _CHINESE_NAMES.sub(" ", rest)
    said = len(re.findall(r"[\u3400-\u9fff]", sentence))
    return "zh" if said and english <= 4 * said + 4 else "en"

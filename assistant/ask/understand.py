"""From a question to intent and slots, by patterns that stand in ``patterns.yaml`` and ``metric_words.yaml``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from assistant.ask import recalled
from assistant.ask.computed import OF_ONE
from assistant.ask.concepts import by_concept, is_file, lacking
from assistant.ask.described import described, may_describe
from assistant.ask.differing import one_step
from assistant.ask.epochs import AN_EPOCH, EPOCH_KEYS
from assistant.ask.follow import after, asks_by_itself, continued_language, followed
from assistant.ask.held_out_step import of_the_run, with_validation
from assistant.ask.in_a_row import row_in
from assistant.ask.intents import decided, further_operations, operation
from assistant.ask.leaning import stands_alone
from assistant.ask.learnt import Table, shipped
from assistant.ask.limits import threshold_in
from assistant.ask.logged import STEP_TIME
from assistant.ask.metrics_named import metrics_named, statistics
from assistant.ask.own_names import of_the_log
from assistant.ask.patterns import patterns
from assistant.ask.per_token import per_token
from assistant.ask.pointing import owned, pointed_span
from assistant.ask.query import Depth, Query, State
from assistant.ask.readings import alternatives
from assistant.ask.restated import OF_EACH, remembered, restated
from assistant.ask.runs_named import runs_named
from assistant.ask.scope import bounds_named
from assistant.ask.steplists import Mark
from assistant.ask.steps import SLOWEST_STEP, step_marks, training_steps
from assistant.ask.supposed import values_in
from assistant.ask.wording import language_of, normalised, without_language
from assistant.knowledge import Mentioned, Resolver
from assistant.model import Run, StepSlot
from assistant.model.answer import Op

__all__ = [
    "Query", "State", "after", "continued_language", "language_of", "looks_like_question", "off_topic", "parts",
    "understand",
]  # fmt: skip

_MOST_PARTS = 4
#: "What is the mean of reward in the second half": a value, although "what is" asks for meanings as well.
_VALUE_ASKED = re.compile(
    r"(?i)\bwhat(?:'s| is| was| were| are) (?:the|my|our) (?:mean|average|avg|max(?:imum)?|min(?:imum)?|median|total"
    r"|sum|std) (?:(?:of|for) (?!what|which)|(?!of\b|for\b|\w+ (?:mean|do)\b)(?=[a-z]))"
    r"|\b(?:so far|near the end|toward?s? the end"
    r"|(?:in|over|during) the (?:first|second|last) (?:half|third|quarter|\d+ steps))\b"
)
#: A setting of the longest response, which no log prints as a metric.
_LENGTH_SETTING = re.compile(r"(?i)max_(?:response|completion|new|output|generation)_(?:len\w*|tokens)")
#: Words of a statistic, which are keys of some logs and names of no metric in others.
_STATISTIC = re.compile(
    r"(?i)min(?:imum)?|max(?:imum)?|mean|avg|average|median|std|sum|total|peak|最大值?|最小值?|平均值?|均值|中位数|标准差"
)
#: "The average one": of what was named before.
_ONE = re.compile(
    r"(?i)(?:the )?(?:(?:min|max)(?:imum)?|mean|avg|average|median|long|short|small|large|high|low)(?:est)? ones?"
)
_STEP_WORDS = re.compile(
    r"(?i)\b(?:the|at|in|and|to|steps?|last|first|final|latest)\b"
    r"|第|步|最后|最新|最近|一|和|到|与|呢|吗"
)
_NOT_FINITE = re.compile(r"(?i)(?<![a-z_/])(?:nans?|infs?|infinity|infinite)(?![a-z_/])|非数|无穷|非有限")
#: "entropy@40": a step behind a name, and no "mean@16" of a validation.
_AT = re.compile(
    r"(?<!\bmean)(?<!\bbest)(?<!\bworst)(?<!\bmaj)(?<!\bpass)(?<!\bstd)(?<!\bacc)\s*@\s*\d{1,7}(?![\w/@.])"
)
_WHERE_LIMIT = re.compile(
    r"(?i)\b(?:first|last|latest|final|earliest) (?:step|time|iteration|one|point|eval\w*|val\w*)s? (?:with|where"
    r"|that|when|at which|in which|above|below|over|under|having)\b"
    r"|(?:的|是)\s*(?:第1步|首步|最后一?步|最后一次)\s*(?:是|在)?(?:哪|第几)?\S{0,3}\s*[?。]*$"
    r"|\d\s*[%％]?\s*的\s*(?:第\s*[1一]\s*步|首步)(?=\s*(?:和|与|跟|、|,|以及|及))|最后一?(?:步|次)\s*(?:超|高|低|大|小|跌|不|非|还|过|有)"
)


def understand(
    question: str, resolver: Resolver, runs: Sequence[Run], *, language: str, state: State | None = None
) -> Query:
    """Intent and slots of a question about some runs (``runs`` may be empty).

    An empty question asks for an explanation of everything that matters.

    Args:
        question: as typed.
        resolver: from names to cards.
        runs: parsed runs.
        language: of the answer, ``zh`` or ``en``.
        state: what the conversation carries; a question with its own content takes nothing from it.
    """
    text = normalised(question)
    if not text:
        return Query(question, language, "out_of_scope" if question.strip() else "explain", wording=question)
    said, places = runs_named(text, runs)
    about = runs[places[0]] if places else runs[0] if runs else None
    said = said if about is None else bounds_named(said, training_steps(about))
    alone = False
    if state is not None and state.query is not None and about is not None:
        leaning, said = said, stands_alone(said, state, about)
        one = runs[state.query.runs[0]] if len(state.query.runs) == 1 and not places else about
        put = restated(said, state, one, resolver, several=len(runs) > 1) if said == leaning else said
        put = recalled.part_before(said, state, one, language) or put
        alone, said = put != said, put
        held = state.step if state.step is not None else one_step(state.query, about)
        said = owned(pointed_span(said, held), state.query.wording or state.query.text, held)
    wording = question if said == question.strip() else said
    asked = without_language(said)
    talking = state is not None and state.query is not None
    own, strength = _alone(wording, asked, resolver, about, language=language, n_runs=len(runs))
    apart = state is not None and state.intent != "lookup" and bool(own.mentions) and asks_by_itself(said)
    tied = talking and _short(said) and not apart
    # a key that nobody knows is no description
    spelt = any(re.search(r"[/_]", m.text) and not is_file(m.text) for m in own.mentions)
    meant: tuple[Mentioned, ...] = ()
    bare = _only_named(own, asked)
    if about is not None and may_describe(own, strength) and own.asked_op != "count" and not (spelt or tied or bare):
        meant = () if lacking(said, about) else described(said, own, about, resolver, talking=talking)
    if about is not None and meant and not own.mentions:  # a plain word for one key of the log is surer
        plain = tuple(by_concept(said, (), about, resolver))
        meant = plain if len(plain) == 1 and plain[0].key is not None else meant
    if about is not None and not meant and not spelt:
        plain = tuple(by_concept(said, own.mentions, about, resolver))
        meant = plain if plain != own.mentions else ()
    if meant:
        own, strength = _alone(wording, said, resolver, about, language=language, n_runs=len(runs), meant=meant)
    elif not tied and not bare:  # what is learnt is learnt from questions that stand alone
        own, strength = _alone(wording, asked, resolver, about, language=language, n_runs=len(runs), table=shipped())
    if about is not None and own.intent == "define" and _VALUE_ASKED.search(asked):
        mean: Op | None = "mean" if re.search(r"(?i)\b(?:mean|average|avg) (?!\w+ mean\b)", asked) else None
        own = replace(own, intent="lookup", op=own.op or own.asked_op or mean, guessed=False)
    own = replace(own, text=question, runs=places)
    if state is not None and state.query is not None:
        more = asked if own.mentions or own.steps.kind != "none" else said  # "in English, and for step 90"
        if alone:
            every = any(words in said for words in OF_EACH.values())
            own = replace(own, runs=() if every else own.runs or state.query.runs, follows="slots")
        elif about is not None and (leant := recalled.leaned(own, text, state, about, resolver)) is not None:
            return leant
        else:
            own = followed(own, more, state, runs, resolver=resolver, strength=strength)
        own = of_the_run(remembered(own, state.query, about), runs, resolver)
    return replace(own, alternatives=alternatives(own, said, about))


def _short(text: str) -> bool:
    """Whether a text is too short, or too plainly tied to the question before, to describe a metric of its own."""
    few = len(text) <= 12 if re.search(r"[\u3400-\u9fff]", text) else len(text.split()) <= 5
    pronoun = re.search(r"(?i)\b(?:its?|that|this|they|their|those|these)\b|它|这个|那个|那步|那里", text)
    return few or pronoun is not None or patterns().single["follow"].search(text) is not None


def _only_named(own: Query, text: str) -> bool:
    """Whether a question is nothing but the name of a metric, or of steps."""
    rest = _STEP_WORDS.sub(" ", _blank(text, [(m.start, m.end) for m in own.mentions]))
    return (bool(own.mentions) or own.steps.kind != "none") and not re.search(r"[^\W\d]", rest)


def _alone(
    wording: str, text: str, resolver: Resolver, run: Run | None, *, language: str, n_runs: int,
    meant: tuple[Mentioned, ...] = (), table: Table | None = None,
) -> tuple[Query, float]:  # fmt: skip
    """What a question says by itself, and how strongly its intent is told; ``meant`` is what it describes."""
    query, scores = evidence(wording, text, resolver, run, language=language, meant=meant)
    return decided(query, text, scores, run=run, n_runs=n_runs, table=table)


def evidence(
    wording: str, text: str, resolver: Resolver, run: Run | None, *, language: str, meant: tuple[Mentioned, ...] = ()
) -> tuple[Query, dict[str, float]]:
    """A question's slots, its intent not yet decided, and the patterns' score of each intent.

    Args:
        wording: the question as it is kept.
        text: the question, normalised.
        resolver: from names to cards.
        run: the run that the question is about.
        language: of the answer.
        meant: the metrics described, where none is named.
    """
    held = patterns()
    mentions = meant or of_the_log(metrics_named(text, resolver, run), resolver, run)
    mentions = per_token(with_validation(mentions, text, run, resolver), text, run, resolver)
    if any(m.key is None and _STATISTIC.fullmatch(m.text) for m in mentions):  # "min there?" names an operation
        mentions = tuple(m for m in mentions if m.key is not None or not _STATISTIC.fullmatch(m.text))
    mentions = tuple(m for m in mentions if not _ONE.fullmatch(m.text))
    if any(m.key is None and m.card is None for m in mentions):
        mentions = tuple(m for m in mentions if m.key or m.card or not _LENGTH_SETTING.fullmatch(m.text))
    if not mentions and run is not None and (slow := SLOWEST_STEP.search(text)):
        mentions = _step_time(slow, resolver, run)
    keyless = _blank(text, [(m.start, m.end) for m in mentions if re.search(r"[/_@]", m.text)])
    bare = _blank(text, [(m.start, m.end) for m in mentions])
    no_steps = [
        *((m.start, m.end) for m in mentions if "/" in m.text or _AT.match(text, m.end)),
        *values_in(text),
    ]
    no_steps += [row[1]] if (row := row_in(text)) is not None else []
    steps, marks = step_marks(_blank(text, no_steps), held.steps, run)
    if run is not None:
        if AN_EPOCH.search(text) and any(m.key not in EPOCH_KEYS for m in mentions):
            mentions = tuple(m for m in mentions if m.key not in EPOCH_KEYS)  # it tells the step, and is not asked for
        mentions = statistics(mentions, text, run, resolver, pointed=steps.kind in {"single", "last", "first"})
        steps, marks = _own_ends(*_last_two(text, steps, marks, mentions, run), mentions, run)
    threshold = threshold_in(keyless)
    if threshold is not None and _WHERE_LIMIT.search(text) and not OF_ONE.search(text):
        steps, marks = StepSlot(), ()  # "the first step where": a step to look for, none that is named
    all_steps = tuple(dict.fromkeys(step for _, step in marks))
    # metric names say things themselves: "accuracy", "batch size"
    seen = {"validation": text}
    seen |= dict.fromkeys(("derive", "advice", "forecast", "trend", "health", "bottleneck"), keyless)
    scores = held.scores(seen, bare)
    topics = tuple(
        name for name, words, unless in held.topics if words.search(keyless) and not (unless and unless.search(keyless))
    )
    depth: Depth = next((cast("Depth", name) for name, pattern in held.depth if pattern.search(text)), "normal")
    op = operation(text, bare, keyless, mentions=mentions, steps=steps, threshold=threshold)
    if op == "first_crossing" and steps.kind == "first":
        steps = StepSlot()  # "the first step where" names no step
    query = Query(
        wording, language, "explain", mentions, steps, all_steps, op if mentions or op == "count" else None, topics,
        depth, threshold, step_marks=marks, wording=wording, asked_op=op,
        more_ops=further_operations(keyless, mentions, op), not_finite=_NOT_FINITE.search(text) is not None,
    )  # fmt: skip
    return query, scores


#: "The last eval against the one before it".
_LAST_TWO = re.compile(
    r"(?i)\b(?:last|latest|final|most recent|newest) (?:eval\w*|val\w*|test|step|value|checkpoint|one|row|log)"
    r"\b.{0,40}\b(?:compared? (?:to|with)|vs\.?|versus|against|than|relative to|from|over|and)\b.{0,12}"
    r"\b(?:(?:the )?(?:one|eval\w*|step|value|val\w*)? ?(?:right |just )?before(?: (?:it|that|last))?"
    r"|previous|prior|preceding|second[- ]to[- ]last|last but one|penultimate)\b"
    r"|(?:最后|最近|最新|末)(?:的)?(?:那|这)?一?(?:次|步|个|回)[^。?]{0,24}(?:比|跟|和|与|同|对|较)[^。?]{0,8}"
    r"(?:倒数第\s*[二2两]|(?:再)?(?:前|上)(?:面)?(?:的)?(?:那)?一?)(?:个)?(?:次|步|回|个)"
)


def _last_two(
    text: str, steps: StepSlot, marks: tuple[Mark, ...], mentions: Sequence[Mentioned], run: Run
) -> tuple[StepSlot, tuple[Mark, ...]]:
    """The last two steps of a metric where a question sets its last value against the one before."""
    keys = [m.key for m in mentions if m.key is not None]
    if steps.kind in {"single", "pair"} and any(re.search(rf"(?<!\d){step}(?!\d)", text) for step in steps.values):
        return steps, marks
    held = run.series(keys[0])[0] if keys else ()
    if len(held) < 2 or not _LAST_TWO.search(text):
        return steps, marks
    return StepSlot("pair", (held[-2], held[-1])), ((0, held[-2]), (2, held[-1]))


def _own_ends(
    steps: StepSlot, marks: tuple[Mark, ...], mentions: Sequence[Mentioned], run: Run
) -> tuple[StepSlot, tuple[Mark, ...]]:
    """First and last of a metric's own steps: a validation's first is the one before training."""
    keys = [m.key for m in mentions if m.key is not None]
    if steps.kind != "pair" or not keys or [at for at, _ in marks] != [0, 1]:
        return steps, marks
    held, _ = run.series(keys[0])
    if len(held) < 2 or {held[0], held[-1]} == set(steps.values):
        return steps, marks
    return StepSlot("pair", (held[0], held[-1])), ((0, held[0]), (1, held[-1]))


def _step_time(slow: re.Match[str], resolver: Resolver, run: Run) -> tuple[Mentioned, ...]:
    held = next((m for m in STEP_TIME if m in run.metrics), None)
    if held is None:
        return ()
    card = resolver.key(held, run.framework)
    return (Mentioned(slow.start(), slow.start(), held, card.card if card else None, held),)


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    chars = list(text)
    for start, end in spans:
        chars[start:end] = " " * (end - start)
    return "".join(chars)


def parts(question: str) -> list[str]:
    """The questions that one text asks, where each part stands on its own; else the whole text."""
    text = normalised(question)
    held = patterns()
    if (listed := _COUNTED_QUESTIONS.match(text)) is not None:  # "three things: steps so far, time a step, memory"
        pieces = [piece.strip() for piece in _BETWEEN.split(text[listed.end() :]) if len(piece.strip()) > 1]
        return pieces if 2 <= len(pieces) <= _MOST_PARTS else [question]
    if len(_ENUMERATED.findall(text)) > 1 and _ENUMERATED.match(text):  # "1) … 2) …"
        listed_pieces = [piece.strip(" ,，、;；") for piece in _ENUMERATED.split(text)]
        listed_pieces = [piece for piece in listed_pieces if len(piece) > 1]
        return listed_pieces if 2 <= len(listed_pieces) <= _MOST_PARTS else [question]
    pieces = [piece.strip(" ,，、") for piece in held.single["split"].split(text)]
    pieces = [piece for piece in pieces if len(piece) > 1]
    if not 2 <= len(pieces) <= _MOST_PARTS or len(text) > 400:
        return [question]
    if any(_HOW_TOLD.fullmatch(piece) for piece in pieces[1:]):  # by what the answer tells it
        return [question]
    if any(_CHALLENGED.search(piece) for piece in pieces):  # what it doubts is what the rest asks about
        return [question]
    of_training = (held.single["domain"], held.single["out_of_domain"])
    marked = len(re.findall("[?？]", question)) >= len(pieces)  # each is a question of its own
    strong = [
        max(held.scores({}, piece).values()) >= 2 and (marked or any(words.search(piece) for words in of_training))
        for piece in pieces
    ]
    return pieces if all(strong) else [question]


_COUNTED_QUESTIONS = re.compile(
    r"(?i)^\s*(?:(?:问|查|看)?(?:你)?(?:两|二|三|四|2|3|4|几)(?:个|件)(?:事|问题|东西|数|点)?(?:情)?"
    r"|(?:two|three|four|2|3|4|a few|several) (?:quick )?(?:things|questions|numbers))\s*[:：,，]\s*"
)
#: Numbers of a list of questions.
_ENUMERATED = re.compile(r"(?:(?<=^)|(?<=[\s,，;；。?？]))(?:\(?[1-9a-d]\)|[1-9][.、:](?!\d)|[①②③④])\s*")
#: "You said it was 5 %, that is wrong, isn't it? …": no question of its own.
_CHALLENGED = re.compile(
    r"(?i)^(?:你|您)(?:刚才|刚刚|之前|上面|前面|上次)?(?:说|讲|回答|给)的?[^?]{0,40}(?:不对|错了?|有误|不是吧|搞错)"
    r"|^you (?:just )?(?:said|told|claimed)\b.{0,60}\b(?:wrong|not right|mistake|incorrect)"
)
#: "Where do you see that?": what the answer is told from, and no question beside it.
_HOW_TOLD = re.compile(
    r"(?i)\W*(?:and |but )?(?:你|您)?(?:是)?(?:从|在)?(?:哪(?:里|儿)?|什么(?:地方)?|怎么|如何)(?:能|可以)?"
    r"(?:看(?:得)?出|看到|知道|判断|推断?)(?:来|出来)?(?:的)?\W*|\W*(?:有(?:什么|啥))?(?:依据|根据|证据)(?:是(?:什么|啥)|呢)?\W*"
    r"|\W*(?:and |but )?how (?:do|can|would|did) (?:you|we|i|one) (?:tell|know|see)(?: (?:that|this|it))?\W*"
    r"|\W*(?:and |but )?(?:where|from what) (?:do|can) (?:you|we|i|one) (?:tell|see|read)"
    r"(?: (?:that|this|it))?(?: from)?\W*"
)
_BETWEEN = re.compile(r"[、,，;；?？\n]|\s+(?:and|以及|还有)\s+(?=[^,]{4,}$)|\(?\d[).、]\s")
#: A question that something is said after, and a word that asks: "why is it zero? GRPO, group size 8".
_MARKED = re.compile(r"[^\s?]\s?\?+(?:\s|$)")
_WORD_THAT_ASKS = re.compile(
    r"(?i)\b(?:what|why|how|which|is|are|was|were|does|do|did|can|could|should|where|when|has|have)\b|[\u3400-\u9fff]{2}"
)
_ASKS = re.compile(
    r"(?i)\s*(?:(?:hi|hello|hey|ok|so|and|please|pls|now|also|but|then)[,.!]?\s+)*"
    r"(?:(?:can|could|would|will) (?:you|u)\s+(?:please )?)?"
    r"(?:explain|analy[sz]e|interpret|summari[sz]e|describe|compare|tell|show|give|help|check|look|read|walk|break"
    r"|plot|find|"
    r"list|forecast|predict|evaluate|review|define|what|what's|why|how|which|when|where|who|is|are|was|were|did|do"
    r"|does|has|have|"
    r"had|should|can|could|would|will|any|anything|anyone|i\b|we\b|my\b|our\b|this|the|entropy|kl|reward|loss"
    r"|trend|deep)\b"
)


def off_topic(question: str) -> bool:
    """Whether a question is plainly about something else than training."""
    return patterns().single["out_of_domain"].search(question) is not None


def looks_like_question(text: str) -> bool:
    """Whether a paragraph beside a log asks something, rather than being part of the log's surroundings."""
    if not 1 < len(text) <= 600 or text.count("\n") > 8:
        return False
    clean = normalised(text) if len(text) <= 600 else text
    held = patterns()
    if held.single["offer"].search(clean) or re.search(r"(?m)^\s*(?:\d+[.、)]|[-*#|>])\s*\S", clean):
        return False
    if clean.rstrip().endswith("?") or (_MARKED.search(clean) and _WORD_THAT_ASKS.search(clean)):
        return True
    if language_of(clean) == "en" and not _ASKS.match(clean):
        return False  # a program's remark ("Next step: evaluate with …") rather than a person's request
    return max(held.scores({}, clean).values()) >= 2 and len(text) <= 200

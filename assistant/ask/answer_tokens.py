"""Counts of tokens that a log implies: of all responses or prompts of a step, of one trajectory, of one GPU; shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from assistant.analysis import derive
from assistant.ask.answer_other import gpus_by_rates
from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.parts import number
from assistant.ask.subject import words_of
from assistant.ask.wording import normalised
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

_PROMPTS: Final = ("prompt_length/mean", "token/prompt_length/mean")
_RESPONSES: Final = ("response_length/mean", "token/response_length/mean")
_TOTALS: Final = ("perf/total_num_tokens",)
#: TRL's count of all tokens so far, prompts and responses.
_COUNTER: Final = "num_tokens"
_ONE_STEP: Final = frozenset({"single", "first", "last", "none"})


def amount(context: Context) -> Verdict | None:
    """The tokens asked for at a step; ``None`` where the log does not imply them, or something else is asked."""
    held, text = words("tokens"), normalised(context.query.wording or context.query.text)
    if held["rate"].search(text) or context.query.steps.kind not in _ONE_STEP or context.query.threshold is not None:
        return None
    prompt, response = (held[name].search(text) is not None for name in ("prompt", "response"))
    if held["card"].search(text):
        return None if prompt or response else _per_card(context)
    if held["each"].search(text):
        return _of_one(context) if prompt == response and (prompt or held["sum"].search(text)) else None
    if not held["sum"].search(text) or held["one"].search(text):
        return None
    if _COUNTER in context.run.columns and context.query.steps.kind in {"single", "last"}:
        return _added(context)
    if prompt == response:
        return None
    return _of_all(context, _PROMPTS if prompt else _RESPONSES, "prompts" if prompt else "responses")


def _steps(context: Context) -> list[int]:
    """The steps asked about, the latest first; where none is named all of the training."""
    slot, steps = context.query.steps, list(context.train_steps)
    if slot.kind == "single":
        return [step for step in steps if step in slot.values]
    return steps[:1] if slot.kind == "first" else steps[::-1]


def _mean(context: Context, keys: Sequence[str], step: int) -> Fact | None:
    key = next((key for key in keys if key in context.run.columns), None)
    fact = None if key is None else context.value(key, step)
    return fact if fact is not None and math.isfinite(number(fact)) else None


def _count(context: Context, step: int) -> Fact | None:
    """Trajectories of a step, as derived or logged."""
    fact = derive(context.ledger, "trajectories_per_step", step)
    return fact if fact is not None else context.value("system/batch_size", step)


def _of_all(context: Context, keys: Sequence[str], whose: str) -> Verdict | None:
    for step in _steps(context):
        mean, count = _mean(context, keys, step), _count(context, step)
        if mean is None or count is None:
            continue
        total = context.ledger.derived(
            f"{whose[:-1]}_tokens", round(number(mean) * number(count)), step=step, inputs=[mean, count],
            formula=f"{mean.metric} × trajectories_per_step", unit="tokens",
        )  # fmt: skip
        said = context.say(f"tokens.{whose}", v=total, at=step, mean=mean, batch=count)
        return _told(context, said, [str(mean.metric)])
    return None


def _added(context: Context) -> Verdict | None:
    """The tokens that a row added to a counter of all so far: a counter's value at a step is no count of that step."""
    step = next(iter(_steps(context)), None)
    earlier = [] if step is None else [one for one in context.run.series(_COUNTER)[0] if one < step]
    now, then = _mean(context, (_COUNTER,), step or 0), _mean(context, (_COUNTER,), earlier[-1] if earlier else 0)
    if step is None or now is None or then is None or not earlier:
        return None
    added = context.ledger.derived(
        "tokens_added", round(number(now) - number(then)), step=step, inputs=[then, now], unit="tokens",
        formula=f"{_COUNTER} at step {step} − at step {earlier[-1]}",
    )  # fmt: skip
    said = context.say("tokens.added", v=added, before=earlier[-1], at=step, metric=_COUNTER, then=then, now=now)
    return _told(context, said, [_COUNTER])


def _of_one(context: Context) -> Verdict | None:
    for step in _steps(context):
        prompt, response = _mean(context, _PROMPTS, step), _mean(context, _RESPONSES, step)
        if prompt is None or response is None:
            continue
        both = context.ledger.derived(
            "tokens_per_trajectory", number(prompt) + number(response), step=step, inputs=[prompt, response],
            formula=f"{prompt.metric} + {response.metric}", unit="tokens",
        )  # fmt: skip
        said = context.say("tokens.each", v=both, at=step, prompt=prompt, response=response)
        return _told(context, said, [str(prompt.metric), str(response.metric)])
    return None


def _per_card(context: Context) -> Verdict | None:
    for step in _steps(context):
        total = _mean(context, _TOTALS, step)
        gpus = derive(context.ledger, "n_gpus", step) or gpus_by_rates(context, step)
        if total is None or gpus is None or number(gpus) < 1:
            continue
        each = context.ledger.derived(
            "tokens_per_gpu", number(total) / number(gpus), step=step, inputs=[total, gpus],
            formula=f"{total.metric} / n_gpus", unit="tokens",
        )  # fmt: skip
        said = context.say("tokens.per_card", v=each, at=step, total=total, gpus=gpus)
        return _told(context, said, [str(total.metric)])
    return None


def share(context: Context) -> Verdict | None:
    """What part of all tokens are responses', or prompts' where those are asked for, at the step asked about."""
    if context.query.steps.kind not in _ONE_STEP:
        return None
    held, text = words("tokens"), words_of(context) + " " + normalised(context.query.wording or context.query.text)
    whose = "prompt" if held["prompt"].search(text) and not held["response"].search(text) else "response"
    for step in _steps(context):
        prompt, response = _mean(context, _PROMPTS, step), _mean(context, _RESPONSES, step)
        if prompt is None or response is None or number(prompt) + number(response) <= 0:
            continue
        own = prompt if whose == "prompt" else response
        part = context.ledger.derived(
            f"{whose}_token_share", number(own) / (number(prompt) + number(response)), step=step,
            inputs=[prompt, response], unit="fraction",
            formula=f"{own.metric} / ({prompt.metric} + {response.metric})",
        )  # fmt: skip
        said = context.say(f"tokens.share_{whose}", v=part, at=step, prompt=prompt, response=response)
        return _told(context, said, [str(own.metric)])
    return None


def _told(context: Context, said: str, metrics: Sequence[str]) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend(metrics)
    return Verdict("answered", unmark(said))

"""The one metric that a question is about, its words without the metric's name, and the part of the run meant."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.ask.blanking import blanked, figures, without_names
from assistant.ask.context import Context
from assistant.ask.naming import central, named_keys
from assistant.ask.part import Part, part_of
from assistant.ask.scope import scope_in
from assistant.ask.wording import normalised


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about.

    Attributes:
        metric: key of the log.
        text: the question, normalised, without names of metrics and without the words for a part of the run.
        part: the finite values in the part of the run that the question names; the whole run where it names none.
    """

    metric: str
    text: str
    part: Part


def words_of(context: Context) -> str:
    """A question as the writers' patterns see it: normalised, names of metrics blanked."""
    query = context.query
    return without_names(figures(normalised(query.wording or query.text)), query.mentions)


def subject_of(context: Context, *, least: int = 2, several: bool = False) -> Subject | None:
    """The subject of a question that names one metric of the log; ``None`` for none, several, or too few values.

    Args:
        context: of the answer.
        least: fewest finite values.
        several: of several metrics take the first, a mean before its extremes.
    """
    keys = central(named_keys(context))
    if several and len(keys) > 1:
        keys = [next((key for key in keys if key.endswith("/mean")), keys[0])]
    elif not keys or len({mention.start for mention in context.query.mentions if mention.key in keys}) > 1:
        return None
    if not keys:
        return None
    text = words_of(context)
    scope = scope_in(text, context.train_steps)
    part = part_of(context, keys[0], scope)
    if len(part) < least:
        return None
    return Subject(keys[0], blanked(text, scope.spans), part)

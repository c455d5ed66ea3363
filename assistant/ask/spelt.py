"""The advice of a card in the words of a log: keys as the log has them, options as its trainer calls them.

The cards of failure modes are written in verl's words. On a log of another trainer a key that the log holds under
another name is told by that name, an option by that trainer's where it is known (``elsewhere_named.yaml``), and all
else in plain words. A remark on another trainer's own keys is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assistant import resources
from assistant.analysis.diagnosis.roles import role, roles

if TYPE_CHECKING:
    from assistant.model import Run

#: The trainer in whose words the cards are.
OWN: Final = "verl"
_NAME: Final = re.compile(r"`([^`\n]+)`")
#: A sentence with the blank after it.
_SENTENCE: Final = re.compile(r"[^。；;.]+(?:[.](?!\s|$)[^。；;.]*)*(?:[。；;]|[.](?=\s|$)|$)\s*")
#: Trainers as the cards name them.
_TRAINERS: Final = {
    name: re.compile(rf"(?<![\w/-]){name}(?![\w/-])")
    for name in ("verl", "TRL", "ROLL", "slime", "AReaL", "NeMo-RL", "OpenRLHF")
}


@lru_cache(maxsize=1)
def table() -> Mapping[str, Mapping[str, str]]:
    """Plain words and options by the name that the cards use (``elsewhere_named.yaml``)."""
    return {
        name: {what: str(said) for what, said in entry.items()}
        for name, entry in resources.yaml_table(Path(__file__).with_name("elsewhere_named.yaml")).items()
    }


def fitted(text: str, run: Run, language: str, *, remarks: bool) -> Iterator[tuple[str, bool]]:
    """A card's passage in pieces, each with whether it stands in the card word by word.

    Args:
        text: the passage.
        run: of the log.
        language: of the passage.
        remarks: whether its sentences are remarks, of which those on another trainer's keys are left out.
    """
    if remarks:
        text = "".join(match[0] for match in _SENTENCE.finditer(text) if not _foreign(match[0], run.framework)).strip()
    place = 0
    for match in _NAME.finditer(text):
        said = spelt(match[1], run, language)
        if said == match[0]:
            continue
        before, after = text[place : match.start()], match.end()
        if language == "zh" and not said.startswith("`"):  # plain Chinese needs no blanks around it
            before = before if said[0].isascii() else before.rstrip(" ")
            after += not said[-1].isascii() and text[after : after + 1] == " "
        if before:
            yield before, True
        yield said, False
        place = after
    if place < len(text):
        yield text[place:], True


def _foreign(sentence: str, framework: str | None) -> bool:
    """Whether a sentence is about names of another trainer than the log's."""
    if not _NAME.search(sentence):
        return False
    named = {name for name, words in _TRAINERS.items() if words.search(sentence)}
    return bool(named) and framework not in named


def spelt(name: str, run: Run, language: str) -> str:
    """What a name of a card is in a log: a key or an option in backquotes, or plain words."""
    if name in run.columns:
        return f"`{name}`"
    held = next((found.metrics[0] for of in _roles_of(name) if (found := role(run, of)) is not None
                 and found.spelling.plain), None)  # fmt: skip
    if held is not None:
        return f"`{held}`"
    entry = table().get(name)
    if run.framework == OWN or entry is None:
        return f"`{name}`"
    option = entry.get(run.framework or "")
    if option is not None:
        return f"`{option}`"
    return entry[language]


@lru_cache(maxsize=256)
def _roles_of(name: str) -> tuple[str, ...]:
    """The roles that a key has by its name."""
    return tuple(
        of for of, spellings in roles().items()
        if any(name in one.keys and one.plain for listed in spellings.values() for one in listed)
    )  # fmt: skip

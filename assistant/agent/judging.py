"""Whether a sentence of a model may be shown: the audit, and what the audit does not read.

A sentence is kept where the audit finds nothing in it that is contradicted or unsupported, and where every number in
it is one that a fact, a step or a quoted definition holds; where it gives no verdict of its own, is no copy of text of
unknown hands, and is about the log at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.agent import cleaning
from assistant.agent.facts import Account
from assistant.agent.splitting import Piece, Splitter
from assistant.agent.subject import Subject
from assistant.agent.verdicts import contrary
from assistant.ground.check import agrees
from assistant.ground.reading import Read, numbers
from assistant.model import Fact, Mention

#: Characters from which a sentence that stands in a text of unknown hands is a copy of it.
SHORTEST_COPY = 12
#: Characters from which a sentence of the offline answer that names no key is taken to stand alone.
ALONE = 24
_POINTS_BACK = re.compile(
    r"\W*(?:it|its|this|that|these|those|they|their|both|there|then|lowest|highest|latest|the (?:same|latter|former)"
    r"|其中?|它们?|该|这|那|此|两者|二者|最[高低新大小])(?![A-Za-z])", re.IGNORECASE,
)  # fmt: skip
_FENCE = re.compile(r"^\s*(?:```|~~~)[\w-]*\s*$")
_IDS = re.compile(r"\s*[\[(（【]\s*E\d+(?:\s*[,，、;–-]\s*E\d+)*\s*[\])）】]")
_CITED = re.compile(r"\[K\d+\]")
_CODE = re.compile(r"`[^`\n]+`")
_BARE_ID = re.compile(r"(?<![\w/@`])E\d+(?![\w/@])")


class Claimed(Protocol):
    """A claim of an audited sentence."""

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def reason(self) -> str: ...  # noqa: D102
    @property
    def fact(self) -> str | None: ...  # noqa: D102


class Audited(Protocol):
    """An audited sentence."""

    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def claims(self) -> Sequence[Claimed]: ...  # noqa: D102


class Auditor(Protocol):
    """What audits: :class:`assistant.ground.audit.Auditor`, which knows the facts of its claims."""

    facts: Callable[[], Sequence[Fact]]
    """Facts of the answer, which may be stated beside what the runs hold."""

    def sentence(self, text: str, before: str = "") -> Audited:
        """One sentence; ``before`` is the text already shown."""
        ...

    def fact(self, fact_id: str) -> tuple[Fact, Mapping[str, Fact]] | None:
        """A fact that a claim names, and the facts among which its inputs are."""
        ...


@dataclass
class Item:
    """A piece of the text and what was found of it."""

    piece: Piece
    body: str
    reason: str = ""
    claims: tuple[tuple[str, str | None], ...] = ()
    """Supported claims: text, and the id of the fact in the auditor's ledger (of the answer's, after ``=``)."""
    lead: str | None = None
    repaired: bool = False

    @property
    def kept(self) -> bool:
        """Whether it is shown."""
        return bool(self.body) and not self.reason


class Judge:
    """Audits single sentences.

    Args:
        auditor: ties claims to the runs.
        account: facts whose numbers may be said.
        steps: of the runs.
        given: further text whose numbers may be said: quoted definitions.
        untrusted: text of unknown hands that the model was shown: what is said must not be a copy of it.
        names: metric keys and the like, in which digits are no numbers.
        citations: ids that may be cited.
        checked: a text that was checked already (the offline answer): its sentences are true as they stand.
        mentions: which facts it states.
        restore: undoes the masking of names.
        subject: tells sentences that are about something else.
        verdict: code of the answer's verdict, which no sentence may go against.
    """

    def __init__(
        self, auditor: Auditor, account: Account, *, steps: Collection[int] = (), given: Callable[[], str] = str,
        untrusted: Callable[[], str] = str,
        names: Collection[str] = (), citations: Collection[str] = (), checked: str = "",
        mentions: Sequence[Mention] = (), restore: Callable[[str], str] = str, subject: Subject | None = None,
        verdict: str = "",
    ) -> None:  # fmt: skip
        self.auditor = auditor
        self.account = account
        self._steps = set(steps)
        self._given = given
        self._untrusted = untrusted
        self._names = set(names)
        self._citations = set(citations)
        self._restore = restore
        self._subject = subject
        self._verdict = verdict
        self._approved = _approved(checked, mentions)

    def clean(self, text: str) -> str:
        """A sentence as it may be shown: masks undone, fact ids, unknown references and markup taken out."""
        text = cleaning.shown(self._restore(text))
        text = _CITED.sub(lambda m: m.group() if m.group()[1:-1] in self._citations else "", text)
        return "" if _FENCE.match(text) else _IDS.sub("", text)

    def judge(self, piece: Piece, before: str) -> Item:
        """A piece of the text with what the audit says of it."""
        body = self.clean(piece.body)
        item = Item(piece, body)
        if not body.strip() or piece.rule:
            return item
        if _BARE_ID.search(_CODE.sub("", body)):
            item.reason = "name metrics and steps, not ids of facts"
            return item
        approved = self._approved.get(_plain(body))
        if approved is not None:
            item.claims = approved
            return item
        found = self.auditor.sentence(piece.lead.lstrip("\n") + body, before)
        bad = [claim for claim in found.claims if claim.status in {"contradicted", "unsupported"}]
        if bad or found.status in {"contradicted", "unsupported"}:
            item.reason = "; ".join(dict.fromkeys(claim.reason for claim in bad)) or found.status
            return item
        supported = [claim for claim in found.claims if claim.status == "supported"]
        loose = self._loose(body, [claim.text for claim in supported])
        if loose is not None:
            item.reason = f"no fact holds {loose.text}"
            return item
        if not supported and len(body) >= SHORTEST_COPY and _bare(body) in _bare(self._untrusted()):
            item.reason = "a copy of the question or of a document, not of a fact"
            return item
        against = contrary(body, self._verdict)
        if against is not None:
            item.reason = f"says {against}; the verdict is {self._verdict}"
            return item
        strange = self._strange(body, claims=bool(supported))
        if strange is not None:
            item.reason = f"not about the log: {strange}"
            return item
        item.claims = tuple((claim.text, claim.fact) for claim in supported)
        return item

    def _strange(self, body: str, *, claims: bool) -> str | None:
        """A word that makes the sentence somebody else's; parts of the runs' own names are none."""
        if self._subject is None:
            return None
        word = self._subject.strange(body, claims=claims)
        return None if word is None or any(word in name for name in self._names) else word

    def _loose(self, body: str, claims: Sequence[str]) -> Read | None:
        """A number that nothing holds."""
        covered = []
        for text in claims:
            start = body.find(text)
            covered += [(start, start + len(text))] if start >= 0 else []
        given: str | None = None
        for read in self.read(body):
            if any(a <= read.start and read.end <= b for a, b in covered):
                continue
            around = body[max(0, read.start - 16) : read.end + 20]
            if not read.unit and read.value in self._steps:
                continue
            if any(agrees(read, fact, context=around) for fact in self.account.known):
                continue
            given = self._given() if given is None else given
            if any(one.value == read.value and one.unit == read.unit for one in numbers(given)):
                continue
            return read
        return None

    def read(self, text: str) -> list[Read]:
        """Numbers of a text that are not part of a name."""
        names = [m.span() for m in _CODE.finditer(text) if m.group()[1:-1] in self._names]
        names += [m.span() for m in _CITED.finditer(text)]
        return [r for r in numbers(text) if not any(a <= r.start and r.end <= b for a, b in names)]


def _plain(text: str) -> str:
    """A sentence without what does not change its meaning: emphasis, list marker, blanks."""
    return re.sub(r"\s+", " ", text.replace("**", "")).strip()


def _bare(text: str) -> str:
    """Letters and digits alone."""
    return "".join(char for char in text.casefold() if char.isalnum())


def _approved(text: str, mentions: Sequence[Mention]) -> dict[str, tuple[tuple[str, str | None], ...]]:
    """Sentences of a checked text that mean the same wherever they stand → what they state.

    Left out are short ones, those that begin by pointing back, and lines of tables that do not name their metric.
    """
    splitter = Splitter()
    found: dict[str, tuple[tuple[str, str | None], ...]] = {}
    position = 0
    for place, piece in enumerate(splitter.feed(text) + splitter.close()):
        start = position + len(piece.lead)
        end = start + len(piece.body)
        position += len(piece.text)
        stated = [m for m in mentions if start <= m.start and m.end <= end]
        alone = not _POINTS_BACK.match(piece.body) and len(piece.body) >= (0 if "`" in piece.body else ALONE)
        if place == 0 or (alone and (not piece.row or "`" in piece.body.split("|")[1])):
            claims = tuple((text[m.start : m.end], f"={m.fact}" if m.fact[:1] == "E" else None) for m in stated)
            found[_plain(piece.body)] = claims
    return found

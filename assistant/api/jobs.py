"""The work of the routes on texts: module-level functions over picklable values, so that any worker can do them.

Nothing here asks a model: that waits for the network, and is the event loop's part (``assistant/api/answering.py``).
"""

from __future__ import annotations

import pickle
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from assistant.model import EmptyInput, InputError
from assistant.model.jsontext import json_bytes
from assistant.service import Explained, Material, Source, service
from assistant.settings import settings

if TYPE_CHECKING:
    from assistant.service import State


@dataclass(frozen=True, slots=True)
class Done:
    """What a job gives back.

    Attributes:
        body: the reply's JSON.
        events: name and JSON of the events of a stream, where one is asked for.
        stages: seconds by stage.
        found: rule and severity of each finding.
        usage: the answer's ``usage``.
        engine: that answered.
    """

    body: bytes
    events: tuple[tuple[str, str], ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)
    found: tuple[tuple[str, str], ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    engine: str = ""


@contextmanager
def timed(stages: dict[str, float], name: str) -> Any:
    """Notes how long a stage takes."""
    began = time.perf_counter()
    try:
        yield
    finally:
        stages[name] = stages.get(name, 0.0) + time.perf_counter() - began


def split_json(path: str, name: str) -> Any:
    """A large JSON body from a file: its content without one text, which goes to a file beside (suffix ``.text``).

    Raises:
        InputError: it is no JSON.
    """
    place = Path(path)
    try:
        content = orjson.loads(place.read_bytes())
    except orjson.JSONDecodeError as error:
        raise InputError(
            zh=f"请求体不是合法的 JSON（第 {error.pos} 字符附近）。",
            en=f"The body is not valid JSON (near character {error.pos}).",
        ) from None
    place.unlink()
    if isinstance(content, dict) and isinstance(content.get(name), str):
        text = content.pop(name)
        if text:
            place.with_suffix(".text").write_bytes(text.encode("utf-8", "replace"))
    return content


def read(sources: Sequence[Source]) -> Material:
    """Parses sources.

    Raises:
        EmptyInput: there is none, or it holds nothing.
    """
    if not sources:
        raise EmptyInput(
            zh="没有日志：请在 text 里放入日志，或上传文件。", en="There is no log: put it in text, or send files."
        )
    return service().read(list(sources))


def analyse(
    material: Material, question: str, *, language: str, default_language: str = "", state: State | None = None,
    own_question: bool = True,
) -> Explained:  # fmt: skip
    """The offline engine's answer about what was read."""
    return service().explain(
        material, question, language=language, default_language=default_language, engine="offline", state=state,
        own_question=own_question,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a model's answer stands on, packed small: it may wait long for its turn.

    Attributes:
        packed: what was read and the offline engine's answer.
        stages: seconds by stage.
    """

    packed: bytes
    stages: dict[str, float]

    def unpacked(self) -> tuple[Material, Explained]:
        """What was read, and the offline engine's answer."""
        material, explained = pickle.loads(zlib.decompress(self.packed))
        return material, explained


def prepare(sources: Sequence[Source], question: str, lang: str) -> Prepared:
    """What a model's answer stands on."""
    stages: dict[str, float] = {}
    with timed(stages, "parse"):
        material = read(sources)
    with timed(stages, "analyse"):
        explained = analyse(material, question, language=lang)
    return Prepared(zlib.compress(pickle.dumps((material, explained), protocol=5), level=1), stages)


def explain(
    sources: Sequence[Source], question: str, lang: str, engine: str = "offline", *, events: bool = False
) -> Done:
    """The offline engine's answer; ``engine`` other than ``offline`` only adds why no model was asked."""
    stages: dict[str, float] = {}
    with timed(stages, "parse"):
        material = read(sources)
    with timed(stages, "analyse"):
        explained = service().explain(material, question, language=lang, engine=engine)
    with timed(stages, "write"):
        return of_answer(explained.answer.to_json(), stages, events=events)


def of_answer(answer: dict[str, Any], stages: Mapping[str, float], *, events: bool = False) -> Done:
    """What a job gives back for an answer's JSON."""
    body = json_bytes(answer)
    listed: list[tuple[str, str]] = []
    if events:
        listed += [("fact", json_bytes(fact).decode()) for fact in answer["facts"]]
        listed += [("delta", json_bytes({"text": part}).decode()) for part in paragraphs(answer["answer"])]
        listed.append(("answer", body.decode()))
    found = tuple((finding["rule"], finding["severity"]) for finding in answer["findings"])
    return Done(body, tuple(listed), stages, found, answer["usage"], answer["engine"])


def paragraphs(text: str) -> list[str]:
    """A text in pieces of a paragraph, which give the text when joined."""
    pieces = text.split("\n\n")
    return [piece + ("\n\n" if place < len(pieces) - 1 else "") for place, piece in enumerate(pieces)]


def parse(sources: Sequence[Source], lang: str = "auto", *, events: bool = False) -> Done:
    """The runs as tables.

    Raises:
        InputError: the text holds no metric.
    """
    stages: dict[str, float] = {}
    with timed(stages, "parse"):
        material = read(sources)
    if not material.runs:
        raise InputError(
            zh="文本里没有任何指标。请确认这是训练日志。",
            en="The text holds no metric. Check that it is a training log.",
        )
    language = lang if lang in {"zh", "en"} else material.language or settings().lang
    with timed(stages, "write"):
        document = {"runs": [run.to_json(language) for run in material.runs]}
        return _whole(document, stages, events=events)


def check(sources: Sequence[Source], thresholds: Sequence[str], lang: str, *, events: bool = False) -> Done:
    """Every rule and threshold over the runs."""
    from assistant.service.checking import check_runs

    stages: dict[str, float] = {}
    with timed(stages, "parse"):
        material = read(sources)
    language = lang if lang != "auto" else material.language or settings().lang
    with timed(stages, "check"):
        report = check_runs(material.runs, service().resolver, thresholds=thresholds, language=language)
    with timed(stages, "write"):
        document = report.to_json()
        found = tuple((finding["rule"], finding["severity"]) for finding in document["findings"])
        return replace(_whole(document, stages, events=events), found=found)


def verify(sources: Sequence[Source], text: str, lang: str, *, events: bool = False) -> Done:
    """A text audited against the runs, sentence by sentence."""
    from assistant.service.verifying import verify as audit

    stages: dict[str, float] = {}
    with timed(stages, "parse"):
        material = read(sources)
    with timed(stages, "verify"):
        found = audit(material, text, None if lang == "auto" else lang, resolver=service().resolver)
    with timed(stages, "write"):
        return _whole(found.to_json(), stages, events=events)


def _whole(document: dict[str, Any], stages: Mapping[str, float], *, events: bool) -> Done:
    """A document whose stream is its facts, then itself."""
    body = json_bytes(document)
    listed: list[tuple[str, str]] = []
    if events:
        listed = [("fact", json_bytes(fact).decode()) for fact in document.get("facts", ())]
        listed.append(("answer", body.decode()))
    return Done(body, tuple(listed), stages)


def warm(log: bytes) -> None:
    """Does each kind of work once, so that what is loaded lazily is there."""
    sources = [Source("example", log)]
    explain(sources, "", "en", events=True)
    explain(sources, "跟 step 0 相比，模型有改进吗", "zh")
    check(sources, [], "en")
    verify(sources, "Entropy at step 1 is 0.151.", "en")
    parse(sources)

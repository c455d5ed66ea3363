"""Parse, ask, look up: the operations behind the command line, the API and the page."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.knowledge import Card, Finder, Knowledge, Passage, Resolver, difference, knowledge
from assistant.knowledge.index import Entry, Index, open_index
from assistant.model import Answer, InputError, Note, Run, UnknownMetric
from assistant.resources import cache_folder
from assistant.service.asked import question_in
from assistant.settings import settings
from assistant.write.phrases import phrases

if TYPE_CHECKING:
    from assistant.agent import Event, Inquiry
    from assistant.ask import Answerer, State
    from assistant.parsing import Prose

#: Chinese characters in the prose around a log from which an answer to no question is in Chinese.
MANY_CHARACTERS = 20
LONGEST_NAME = 1000
KEY_LIKE = re.compile(r"[\w./@{}()|-]+")


@dataclass(frozen=True, slots=True)
class Source:
    """A text, a file's bytes or the path of a large file, and the name it goes by."""

    name: str
    content: str | bytes | Path


@dataclass(frozen=True, slots=True)
class Doubtful:
    """Lines of a source that look like metrics and were not understood, with the first three texts."""

    name: str
    lines: tuple[int, ...]
    samples: tuple[str, ...]


_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Material:
    """Everything that was read: the runs, a question found in the text, remarks, and what was not understood.

    ``language`` is that of an answer where the question has none; ``written`` that of the prose beside the logs.
    """

    runs: tuple[Run, ...]
    question: str
    notes: tuple[Note, ...]
    doubtful: tuple[Doubtful, ...] = ()
    language: str | None = None
    written: str | None = None


@dataclass(frozen=True)
class Explained:
    """An answer and the state for a follow-up."""

    answer: Answer
    state: State


class Service:
    """Stateless operations over shared, read-only knowledge: the shipped cards and a team's own documents."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[Knowledge, Resolver, Finder] | None = None
        self._answerer: Answerer | None = None
        self._told: dict[str, Note] = {}

    def _current(self) -> tuple[Knowledge, Resolver, Finder]:
        """What is known now: documents that another process added or removed count from the next call on."""
        known = knowledge()
        with self._lock:
            if self._known is None or self._known[0].library is not known.library:
                resolver = Resolver(known.library)
                finder = Finder(known.library, self._index, resolver=resolver)
                self._known = (known, resolver, finder)
            return self._known

    @property
    def resolver(self) -> Resolver:
        """From names to cards."""
        return self._current()[1]

    @property
    def answerer(self) -> Answerer:
        """From questions to answers; loaded when it is first asked for: a server that starts need not wait for it."""
        from assistant.ask import Answerer

        resolver = self.resolver
        with self._lock:
            if self._answerer is None or self._answerer.resolver is not resolver:
                self._answerer = Answerer(resolver)
            return self._answerer

    @property
    def finder(self) -> Finder:
        """From questions in any words to cards."""
        return self._current()[2]

    @property
    def notices(self) -> tuple[Note, ...]:
        """What the search had to repair, or cannot use; each once."""
        return tuple(self._told.values())

    def _index(self, entries: Sequence[Entry]) -> Index:
        chosen = settings()
        embedding = None
        if chosen.embeddings != "local":
            from assistant.knowledge.index_remote import remote_embedding

            embedding = remote_embedding(chosen.embeddings, chosen.embeddings_url, chosen.embeddings_key)
        options: dict[str, Any] = {"embedding": embedding, "chroma_url": chosen.chroma_url, "tell": self._tell}
        if embedding is not None:
            options["embedding_name"] = f"{chosen.embeddings} {chosen.embeddings_url}"
        try:
            return open_index(entries, cache_folder() / "search", **options)
        except OSError as error:  # a home that cannot be written
            self._tell(
                f"检索索引无法写入缓存目录（{error}），本次在临时目录建立。",
                f"The search index cannot be written to the cache folder ({error}); it is built in a temporary one.",
            )
            self._temporary = tempfile.TemporaryDirectory()
            return open_index(entries, Path(self._temporary.name), **options)

    def _tell(self, zh: str, en: str) -> None:
        self._told.setdefault(en, Note("search_index", zh, en))

    @property
    def problems(self) -> tuple[InputError, ...]:
        """Stored documents that cannot be read."""
        return self._current()[0].problems

    def read(
        self,
        sources: Sequence[Source],
        *,
        thorough: bool = False,
        progress: Callable[[int], None] | None = None,
        apart: bool = False,
    ) -> Material:
        """Parses sources; run ids count over all of them.

        Args:
            sources: what to read.
            thorough: look at every line of large logs for metrics that were not understood.
            progress: is told how many bytes of a large file have been read.
            apart: leave tables that a log keeps apart as they are (:mod:`assistant.analysis.together`).

        Raises:
            EmptyInput: a source holds nothing.
            BinaryInput: a source holds no text.
        """
        from assistant.analysis.together import together
        from assistant.parsing import parse_bytes, parse_file, parse_text, registry

        registry.load_installed()
        runs: list[Run] = []
        notes: list[Note] = []
        doubtful: list[Doubtful] = []
        prose: list[Prose] = []
        question = ""
        for source in sources:
            with _span("parse"):
                if isinstance(source.content, Path):
                    parsed = parse_file(source.content, name=source.name, thorough=thorough, progress=progress)
                elif isinstance(source.content, bytes):
                    parsed = parse_bytes(source.content, name=source.name, thorough=thorough)
                else:
                    parsed = parse_text(source.content, name=source.name)
            for run in parsed.runs if apart else together(parsed.runs):
                runs.append(replace(run, id=f"r{len(runs)}"))
            notes.extend(parsed.notes)
            prose.extend(parsed.prose)
            if parsed.doubtful:
                doubtful.append(Doubtful(source.name, parsed.doubtful, parsed.samples))
            question = question or question_in(parsed, self.resolver)
        chinese = sum(len(_HAN.findall(p.text)) for p in prose)
        language = "zh" if chinese >= MANY_CHARACTERS else None
        written = language or ("en" if prose and not chinese else None)
        return Material(tuple(runs), question, tuple(notes), tuple(doubtful), language, written)

    def explain(
        self, material: Material, question: str = "", *, language: str = "auto", engine: str = "auto",
        state: State | None = None, own_question: bool = True, anonymize: bool | None = None,
        default_language: str = "",
    ) -> Explained:  # fmt: skip
        """One answer about what was read; a question inside the text is taken when none is given, if wanted.

        Args:
            material: what was read.
            question: as typed.
            language: ``zh``, ``en`` or ``auto`` (the question's).
            engine: ``offline``; ``llm`` or, where a model is configured, ``auto``: the offline answer's facts are told
                by a model, every sentence checked.
            state: what the conversation carried so far.
            own_question: take a question that stands in the text, if none is given.
            anonymize: mask names before a model is called; the settings' wish where ``None``.
            default_language: of the answer where neither the question nor the text has one; the settings' by default.
        """
        explained = self._offline(material, question, language, state, own_question, default_language=default_language)
        inquiry, explained = self._inquiry(material, explained, engine, anonymize)
        if inquiry is None:
            return explained
        from assistant.agent import respond

        return replace(explained, answer=respond(inquiry))

    async def answer(
        self, material: Material, question: str = "", *, language: str = "auto", engine: str = "auto",
        state: State | None = None, own_question: bool = True, anonymize: bool | None = None,
        explained: Explained | None = None,
    ) -> Explained:  # fmt: skip
        """As :meth:`explain`, for an event loop: cancelling it ends the call of the model.

        ``explained`` is the offline engine's answer to the same, where the caller had it made elsewhere.
        """
        import asyncio

        if explained is None:
            explained = await asyncio.to_thread(self._offline, material, question, language, state, own_question)
        inquiry, explained = self._inquiry(material, explained, engine, anonymize)
        if inquiry is None:
            return explained
        from assistant.agent import respond_async

        return replace(explained, answer=await respond_async(inquiry))

    async def stream(
        self, material: Material, question: str = "", *, language: str = "auto", engine: str = "auto",
        state: State | None = None, own_question: bool = True, anonymize: bool | None = None,
        explained: Explained | None = None,
    ) -> AsyncGenerator[Event]:  # fmt: skip
        """The events of an answer (:class:`assistant.agent.Event`): facts, checked text, then :class:`Explained`.

        Arguments as in :meth:`answer`. The ``answer`` event carries an :class:`Explained`; its text replaces what was
        sent before. Ending the iteration early ends the call of the model.
        """
        import asyncio

        from assistant.agent import Event, stream

        if explained is None:
            explained = await asyncio.to_thread(self._offline, material, question, language, state, own_question)
        inquiry, explained = self._inquiry(material, explained, engine, anonymize)
        if inquiry is None:
            for fact in explained.answer.facts:
                yield Event("fact", fact.to_json())
            yield Event("delta", explained.answer.answer)
            yield Event("answer", explained)
            return
        events = stream(inquiry)
        try:
            async for event in events:
                yield Event("answer", replace(explained, answer=event.data)) if event.kind == "answer" else event
        finally:
            await events.aclose()

    def _inquiry(
        self, material: Material, explained: Explained, engine: str, anonymize: bool | None
    ) -> tuple[Inquiry | None, Explained]:
        """What a model is asked, if it is; else the answer, with the reason where a model was asked for."""
        answer, chosen = explained.answer, settings()
        if engine == "offline" or (engine == "auto" and not chosen.models):
            return None, explained
        from assistant.agent import inquiry_of, wanted

        why = ""
        if not chosen.models:
            why = (
                "没有配置模型，已用离线引擎回答。" if answer.language == "zh"
                else "No model is configured; the offline engine answered."
            )  # fmt: skip
        elif not wanted(answer, material.runs):
            why = phrases().get("agent.unneeded", answer.language) if engine == "llm" else ""
        else:
            inquiry = inquiry_of(answer, material.runs, self.resolver, chosen, finder=self.finder, anonymize=anonymize)
            return inquiry, explained
        return None, replace(explained, answer=replace(answer, warnings=(*answer.warnings, *([why] if why else []))))

    def _offline(
        self, material: Material, question: str, language: str, state: State | None, own_question: bool,
        *, default_language: str = "",
    ) -> Explained:  # fmt: skip
        """The offline engine's answer."""
        asked = question.strip() or (material.question if own_question else "")
        if not question.strip() and asked and language == "auto" and not _HAN.search(asked):
            language = material.written or language  # a title of terms alone is in the language of the story below it
        default = material.language or default_language or settings().lang
        with _span("analyse"):
            answer, carried = self.answerer.ask(
                asked, material.runs, language=language, default_language=default, state=state
            )
        warnings = [note.text(answer.language) for note in material.notes]
        warnings += [problem.zh if answer.language == "zh" else problem.en for problem in self.problems]
        return Explained(replace(answer, warnings=(*answer.warnings, *warnings)), carried)

    def language(self, question: str, wish: str) -> str:
        """Language of messages to a user who asked ``question`` with ``--lang wish``."""
        from assistant.ask import language_of

        return wish if wish in {"zh", "en"} else language_of(question, settings().lang)

    def metric(self, name: str, framework: str | None = None) -> list[Card]:
        """Cards of a metric by any spelling, best first.

        Raises:
            UnknownMetric: none; the message lists the nearest names.
            InputError: the name is empty or too long.
        """
        _check_length(name)
        if not name.strip():
            raise InputError(zh="请给出指标名，例如 actor/ppo_kl。", en="Name a metric, such as actor/ppo_kl.")
        found = self.resolver.name(name, framework)
        if found:
            return [resolution.card for resolution in found]
        if not (name.isascii() and KEY_LIKE.fullmatch(name.strip())):  # a misspelt key is not guessed at
            cards = [found.card for found in self.finder.find(name, framework)]
            if cards:
                return cards
        raise self._unknown_metric(name, framework)

    def _unknown_metric(self, name: str, framework: str | None) -> UnknownMetric:
        """That a name means nothing known, with the nearest three cards as an offer: by a name that leads to each, and
        its title."""
        near = [(self.finder.leading_name(card, name), card) for card in self.finder.nearest(name, framework)]
        offer = {
            language: [f"{known}{left}{card.title(language)}{right}" for known, card in near]
            for language, left, right in (("zh", "（", "）"), ("en", " (", ")"))
        }
        return UnknownMetric(
            zh=f"没有“{name}”的定义，也不猜。"
            + (f"最接近的（供参考，不是答案）：{'、'.join(offer['zh'])}。" if near else ""),
            en=f"There is no definition of “{name}”, and none is guessed."
            + (f" Nearest (proposals, no answer): {', '.join(offer['en'])}." if near else ""),
        )

    def search(
        self, text: str, *, lang: str = "auto", framework: str | None = None, k: int = 5
    ) -> list[dict[str, Any]]:
        """Definitions by any wording, best first: card, title, framework, keys, score, and how it was found."""
        language = self.language(text, lang)
        _check_length(text)
        with _span("retrieve"):
            found = self.finder.find(text, framework, k)
        results: list[dict[str, Any]] = [
            {
                "card": r.card.id, "title": r.card.title(language), "framework": r.card.framework,
                "keys": list(r.card.keys), "score": round(r.score, 3), "how": r.how,
                "also": [{"framework": o["framework"], "keys": o["keys"]} for o in r.card.meta.get("also", ())],
            }
            for r in found
        ]  # fmt: skip
        passages = self.finder.find_passages(text, max(k - len(results), 1))
        del results[k - len(passages) :]  # a team's own words have a place however many cards there are
        for passage in passages:
            shown = passage_json(passage.passage)
            extra = {"score": passage.score, "excerpt": passage.excerpt}
            results.append({**shown, "keys": [], "how": "search", "also": [], **extra})
        return results

    def metric_json(self, card: Card) -> dict[str, Any]:
        """One definition, both languages, and who else defines the same keys."""
        others = []
        for other, differs in self.others(card):
            entry: dict[str, Any] = {
                "card": other.id, "framework": other.framework, "own": other.own, "keys": list(other.keys),
                "title": dict(other.meta["title"]), "short": dict(other.meta["short"]), "source": other.source,
            }  # fmt: skip
            if differs is not None:
                entry["differs"] = {"zh": differs[0], "en": differs[1]}
            others.append(entry)
        return {**card.to_json(), "own": card.own, "also_defined_by": others}

    def others(self, card: Card) -> list[tuple[Card, tuple[str, str] | None]]:
        """Other definitions of a card's keys where a team's own is among them, and how the normal values differ."""
        resolver = self.resolver
        if not resolver.library.own:
            return []
        keys = [*card.keys, *filter(None, [card.meta.get("template")])]
        found = dict.fromkeys(other for key in keys for other in resolver.definitions(key))
        return [
            (other, difference(card, other) if card.own else difference(other, card))
            for other in found
            if other.meta.get("document") != card.meta.get("document")
        ]

    def passage(self, passage_id: str) -> dict[str, Any]:
        """A passage of a team's own document by its id, such as ``doc:metrics.md#3``.

        Raises:
            UnknownMetric: there is none.
        """
        passage = self.resolver.library.passage(passage_id)
        if passage is None:
            raise UnknownMetric(zh=f"没有文档段落“{passage_id}”。", en=f"There is no passage “{passage_id}”.")
        return {**passage_json(passage), "text": passage.text}


def _span(name: str) -> AbstractContextManager[Any]:
    """A span around a part of the work, where somebody collects them."""
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return nullcontext()
    from assistant.agent.tracing import span

    return span(name)


def _check_length(text: str) -> None:
    if len(text) > LONGEST_NAME:
        raise InputError(
            zh=f"这里是名称或问题，不是日志：最多 {LONGEST_NAME} 个字符，收到 {len(text)} 个。",
            en=f"This takes a name or a question, not a log: at most {LONGEST_NAME} characters, got {len(text)}.",
        )


def passage_json(passage: Passage) -> dict[str, Any]:
    """A passage of a team's own document, without its text."""
    return {
        "card": passage.id, "id": passage.id, "kind": "document", "title": passage.title, "framework": "own",
        "own": True, "document": passage.document, "heading": list(passage.heading), "line": passage.line,
        "source": passage.source,
    }  # fmt: skip


@lru_cache(maxsize=1)
def service() -> Service:
    """The process's service."""
    return Service()

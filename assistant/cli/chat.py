"""``metric-assistant chat``: a conversation in the terminal, with history and ``/`` commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assistant.cli.common import message_language
from assistant.model import Answer, AssistantError

HISTORY = "chat_history"
PROMPT = "› "
END_OF_PASTE = "."


def add_chat_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    chat = commands.add_parser(
        "chat", help="a conversation about logs in the terminal / 在终端里对话",
        description="Ask about logs, follow up, look at another one. /help lists what else it can do. "
        "在终端里就日志连续提问；输入 /help 看全部命令。",
    )  # fmt: skip
    chat.add_argument("source", nargs="*", metavar="SOURCE", help="log files to begin with")
    chat.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    chat.add_argument("--engine", choices=["auto", "offline", "llm"], default="auto")
    chat.add_argument(
        "--anonymize", action="store_true", default=None,
        help="mask hosts, paths, users, custom metric names before a model is called / 调用模型前隐去主机、路径等",
    )  # fmt: skip
    chat.set_defaults(run=chat_command)


def chat_command(arguments: argparse.Namespace) -> int:
    """``chat``: until ``/quit`` or the end of the input."""
    from assistant.settings import settings

    fallback = message_language("", arguments)
    talk = Chat(arguments.lang, fallback, _say, engine=arguments.engine, anonymize=arguments.anonymize)
    for name in arguments.source:
        talk.load(name)
    interactive = sys.stdin.isatty()
    if interactive:
        _say(_text(fallback, "hello"))
        _remember(settings().data_dir / HISTORY)
    for line in _lines(interactive):
        if not talk.take(line):
            break
    return 0


@dataclass
class Chat:
    """One conversation.

    Args:
        language: ``zh``, ``en`` or ``auto`` (each question's own).
        fallback: language of remarks where nothing tells it.
        say: shows Markdown.
        engine: ``auto``, ``offline`` or ``llm``.
        anonymize: mask names before a model is called.
    """

    language: str
    fallback: str
    say: Callable[[str], None]
    engine: str = "auto"
    anonymize: bool | None = None
    sources: list[Any] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    state: Any = None
    material: Any = None
    pasting: list[str] | None = None

    def take(self, line: str) -> bool:
        """One line of input; ``False`` ends the conversation. An error is told, and nothing is lost."""
        try:
            return self._take(line)
        except AssistantError as error:
            self.say(error.message("zh" if self._words() == "zh" else "en"))
            return True

    def _take(self, line: str) -> bool:
        text = line.strip()
        if self.pasting is not None:
            if text != END_OF_PASTE:
                self.pasting.append(line)
                return True
            pasted, self.pasting = "\n".join(self.pasting), None
            self.attach("pasted", pasted)
        elif text.startswith("/"):
            return self._command(text)
        elif text:
            self.ask(text)
        return True

    def ask(self, question: str) -> None:
        """A question about what was loaded; a line of metrics is taken as a log."""
        from assistant.service import Source, service

        engine = service()
        if not question.endswith(("?", "？")):
            found = engine.read([Source("pasted", question)])
            if found.runs and not found.question:
                self.attach("pasted", question)
                return
        if self.material is None:
            self.material = engine.read([])
        from assistant.cli.streaming import show_streamed, streams

        options: dict[str, Any] = {"language": self.language, "engine": self.engine, "anonymize": self.anonymize}
        live = streams(self.engine)
        if live:
            explained = show_streamed(engine, self.material, question, self.say, state=self.state, **options)
        else:
            explained = engine.explain(self.material, question, state=self.state, **options)
        self.state = explained.state
        self.fallback = explained.answer.language
        self.answers.append(explained.answer)
        if not live:
            from assistant.cli.main import markdown

            self.say(markdown(explained.answer))

    def load(self, name: str) -> None:
        """Adds a log file to the conversation; a failure is told."""
        from assistant.service import read_source

        try:
            label, content = read_source(name)
            self.attach(label, content)
        except AssistantError as error:
            self.say(error.message("zh" if self._words() == "zh" else "en"))

    def attach(self, label: str, content: Any) -> None:
        """Adds a log to the conversation and says what was recognised."""
        from assistant.service import Source, service

        source = Source(label, content)
        before = len(self.material.runs) if self.material is not None else 0
        found = service().read([*self.sources, source])
        if len(found.runs) == before:
            self.say(_text(self._words(), "nothing").format(name=label))
            return
        self.sources.append(source)
        self.material = found
        for run in found.runs[before:]:
            steps = run.distinct_steps
            self.say(
                _text(self._words(), "read").format(
                    id=run.id, name=run.name, kind=run.framework or run.format, steps=len(steps),
                    first=steps[0] if steps else "–", last=steps[-1] if steps else "–", metrics=len(run.metrics),
                )
            )  # fmt: skip

    def _command(self, text: str) -> bool:
        name, _, rest = text[1:].partition(" ")
        rest = rest.strip()
        if name in {"quit", "exit", "q"}:
            return False
        if name == "load" and rest:
            self.load(rest)
        elif name == "paste":
            self.pasting = []
            self.say(_text(self._words(), "paste"))
        elif name == "runs":
            runs = self.material.runs if self.material is not None else ()
            listed = "\n".join(f"- {run.id} · {run.name} · {run.framework or run.format}" for run in runs)
            self.say(listed or _text(self._words(), "no_runs"))
        elif name == "lang" and rest in {"zh", "en", "auto"}:
            self.language = rest
            self.say(_text(self._words(), "language").format(language=rest))
        elif name == "new":
            self.state = None
            self.say(_text(self._words(), "new"))
        elif name == "save" and rest:
            self._save(rest)
        else:
            self.say(_text(self._words(), "help"))
        return True

    def _save(self, name: str) -> None:
        """The answers so far: a page for ``.html``, else Markdown."""
        from assistant.cli.main import markdown
        from assistant.cli.report import write_page
        from assistant.model import InputError

        if not self.answers:
            self.say(_text(self._words(), "no_answers"))
            return
        if name.endswith((".html", ".htm")):
            write_page(self.answers, self.material.runs, name)
        else:
            parts = [f"## {answer.question}\n\n{markdown(answer)}" for answer in self.answers]
            try:
                Path(name).write_text("\n\n".join(parts) + "\n", encoding="utf-8")
            except OSError as error:
                raise InputError(
                    zh=f"写不了 {name}：{error.strerror}。", en=f"Cannot write {name}: {error.strerror}."
                ) from None
        self.say(_text(self._words(), "saved").format(name=name))

    def _words(self) -> str:
        return self.language if self.language in {"zh", "en"} else self.fallback


def _say(text: str) -> None:
    if sys.stdout.isatty():
        from assistant.cli.terminal import print_markdown

        print_markdown(text)
    else:
        print(text, end="\n\n", flush=True)


def _lines(interactive: bool) -> Iterator[str]:
    if not interactive:
        yield from (line.rstrip("\n") for line in sys.stdin)
        return
    while True:
        try:
            yield input(PROMPT)
        except EOFError:
            print()
            return
        except KeyboardInterrupt:  # leaves the line, not the conversation
            print()


def _remember(path: Path) -> None:
    """Keeps the lines typed over conversations, where the terminal can."""
    try:
        import readline
    except ImportError:  # Windows
        return
    import atexit

    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            readline.read_history_file(path)
    readline.set_history_length(1000)

    def keep() -> None:
        with suppress(OSError):
            readline.write_history_file(path)

    atexit.register(keep)


_TEXTS = {
    "hello": {
        "zh": "粘贴一行指标，或用 `/load 文件` 读入日志，然后直接提问。`/help` 列出全部命令，`/quit` 退出。",
        "en": "Paste a line of metrics or read a log with `/load FILE`, then ask. `/help` lists the commands, "
        "`/quit` ends.",
    },
    "help": {
        "zh": """\
- `/load 文件` 读入日志；可读入几个，问题里可以比较
- `/paste` 粘贴多行日志，以单独一行 `.` 结束
- `/runs` 已读入的运行
- `/lang zh|en|auto` 回答的语言
- `/new` 忘掉上文，日志保留
- `/save 文件.html|文件.md` 保存到目前为止的回答
- `/quit` 退出""",
        "en": """\
- `/load FILE` reads a log; several can be compared
- `/paste` takes a log of several lines, until a line `.`
- `/runs` lists what was read
- `/lang zh|en|auto` language of the answers
- `/new` forgets the conversation, keeps the logs
- `/save FILE.html|FILE.md` saves the answers so far
- `/quit` ends""",
    },
    "read": {
        "zh": "已读入 {id}：{name}，{kind}，{steps} 个 step（{first}–{last}），{metrics} 个指标。",
        "en": "Read {id}: {name}, {kind}, steps {first}–{last} ({steps}), {metrics} metrics.",
    },
    "nothing": {"zh": "{name} 里没有找到指标。", "en": "{name} holds no metric."},
    "paste": {"zh": "请粘贴，最后单独输入一行 `.`。", "en": "Paste now; end with a line that holds only `.`."},
    "no_runs": {"zh": "还没有读入日志。", "en": "No log was read yet."},
    "language": {"zh": "回答语言：{language}。", "en": "Answers in: {language}."},
    "new": {"zh": "上文已清空，日志还在。", "en": "The conversation begins anew; the logs are kept."},
    "saved": {"zh": "已保存到 {name}。", "en": "Saved to {name}."},
    "no_answers": {"zh": "还没有可保存的回答。", "en": "There is no answer to save yet."},
}


def _text(language: str, name: str) -> str:
    return _TEXTS[name]["zh" if language == "zh" else "en"]

"""``metric-assistant watch``: follows a log while it grows, and says at once what goes wrong.

On a terminal a table that renews itself; elsewhere a line a step and a line a finding, or JSON lines.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assistant.cli.common import message_language
from assistant.model import SourceIsFolder, SourceNotFound

if TYPE_CHECKING:
    from assistant.service.live import LiveLog
    from assistant.service.watching import Snapshot

FINDINGS: Final = 1
EVERY_S: Final = 2.0
#: Seconds without growth after which an unfinished last line counts as a line.
SETTLED_S: Final = 5.0


def add_watch_parser(commands: Any) -> None:
    """Adds the command to the grammar."""
    watch = commands.add_parser(
        "watch", help="follow a live log: table, progress, alerts / 跟踪正在写入的日志",
        description="Follows a log while it is written: key metrics, progress, time left, and each new finding once. "
        "Ctrl+C ends. 跟踪正在写入的日志：关键指标、进度、剩余时间，新发现的问题各提示一次。",
    )  # fmt: skip
    watch.add_argument("source", metavar="SOURCE", help="a log file (it may come later), or - for standard input")
    watch.add_argument(
        "--threshold", "-t", action="append", default=[], metavar="CONDITION",
        help='what should hold, such as "actor/ppo_kl<0.05"; may be given again / 应当满足的条件，可给多次',
    )  # fmt: skip
    watch.add_argument(
        "--metric", "-m", action="append", default=[], metavar="KEY", help="a metric to show; may be given again"
    )
    watch.add_argument("--every", type=_seconds, default=EVERY_S, metavar="SECONDS", help="how often to look (2)")
    watch.add_argument("--once", action="store_true", help="read what is there, say it, and end / 只看一次")
    watch.add_argument(
        "--idle", type=_seconds, metavar="SECONDS", help="end when nothing has come for so long / 多久没有新内容就结束"
    )
    watch.add_argument(
        "--fail-on", choices=["warning", "critical"], help="exit status 1 if something at that level was found"
    )
    watch.add_argument(
        "--stop-on", choices=["warning", "critical"], help="end at the first finding at that level / 一发现就结束"
    )
    watch.add_argument("--format", choices=["auto", "lines", "jsonl"], default="auto")
    watch.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
    from assistant.cli.notify import add_notify_options

    add_notify_options(watch)
    watch.set_defaults(run=watch_command)


def watch_command(arguments: argparse.Namespace) -> int:
    """``watch``: until the log's end, ``--idle``, ``--stop-on`` or Ctrl+C."""
    from assistant.cli.notify import Notifier
    from assistant.cli.watch_views import JsonLines, Lines, View
    from assistant.service import service
    from assistant.service.watching import Watcher, refuse_unreadable

    language = message_language("", arguments)
    refuse_unreadable(arguments.threshold)
    notifier = Notifier(arguments, language)
    log = open_live(arguments.source, once=arguments.once)
    watcher = Watcher(
        service().resolver, arguments.source, language=language, thresholds=arguments.threshold,
        metrics=arguments.metric,
    )  # fmt: skip
    view: View
    if arguments.format == "jsonl":
        view = JsonLines(log.name, sys.stdout)
    elif arguments.format == "lines" or arguments.once or not sys.stdout.isatty():
        view = Lines(log.name, language, sys.stdout)
    else:
        from assistant.cli.watch_table import Table

        view = Table(log.name, language)
    try:
        with view:
            worst = _follow(log, watcher, view, notifier, arguments)
    finally:
        log.close()
    failed = notifier.finish()
    found = arguments.fail_on is not None and RANKS[worst] >= RANKS[arguments.fail_on]
    return FINDINGS if found else failed


RANKS: Final = {"": 0, "warning": 1, "critical": 2}


def open_live(source: str, *, once: bool) -> LiveLog:
    """The log that a user names.

    Raises:
        SourceIsFolder: a folder.
        SourceNotFound: ``--once``, and there is no such file.
    """
    from assistant.service.live import LiveFile, LivePipe

    if source == "-":
        return LivePipe(sys.stdin.buffer)
    path = Path(source)
    if path.is_dir():
        raise SourceIsFolder(
            zh=f"{source} 是一个文件夹。请给出其中正在写入的日志文件。",
            en=f"{source} is a folder. Name the log file in it that is being written.",
        )
    if once and not path.exists():
        raise SourceNotFound(
            zh=f"找不到文件 {source}。不加 --once 时会等它出现。",
            en=f"There is no file {source}. Without --once it would be waited for.",
        )
    return LiveFile(path)


def _follow(log: LiveLog, watcher: Any, view: Any, notifier: Any, arguments: argparse.Namespace) -> str:
    """Looks, shows and tells until it is over; the gravest severity that was found."""
    worst = ""
    idle_since = time.monotonic()
    settled = False
    try:
        while True:
            change = log.poll()
            now = time.monotonic()
            if change.grew or change.began_anew or change.more:
                idle_since, settled = now, False
            elif not settled and now - idle_since >= SETTLED_S:
                settled = True
                change = type(change)(grew=log.finish(), ended=change.ended, waiting=change.waiting)
            if change.began_anew:
                watcher.begin_anew()
                view.began_anew()
            over = (arguments.once and not change.more) or change.ended
            if over and arguments.source == "-" and not change.ended:
                log.read_all()  # type: ignore[attr-defined]
            if over:
                log.finish()
            if change.grew or over or watcher.stale:
                snapshot = watcher.observe(log.runs, final=over)
                worst = _worse(worst, snapshot)  # before it is shown: Ctrl+C may come right behind
                view.show(snapshot)
                notifier.send(snapshot.fresh)
            else:
                view.wait(waiting=change.waiting, idle=now - idle_since)
            if over or (arguments.stop_on and RANKS[worst] >= RANKS[arguments.stop_on]):
                break
            if arguments.idle is not None and now - idle_since >= arguments.idle:
                worst = _last_look(log, watcher, view, notifier, worst)
                break
            if not change.more:
                time.sleep(arguments.every)
    except KeyboardInterrupt:
        worst = _last_look(log, watcher, view, notifier, worst)
    view.ended()
    return worst


def _last_look(log: LiveLog, watcher: Any, view: Any, notifier: Any, worst: str) -> str:
    """What came since the last look, and what the rules say of the whole."""
    if log.finish() or watcher.stale:
        snapshot = watcher.observe(log.runs, final=True)
        view.show(snapshot)
        notifier.send(snapshot.fresh)
        return _worse(worst, snapshot)
    return worst


def _worse(worst: str, snapshot: Snapshot) -> str:
    return max([worst, *(alert.severity for alert in snapshot.alerts)], key=lambda name: RANKS[name])


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"“{text}” is not a number of seconds")
    return value

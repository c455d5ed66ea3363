"""Text of a training log in, exact tables out: what was printed, where, and what is not there.

``parse_text`` and ``parse_bytes`` are the entrance; :data:`registry` holds the formats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from assistant.model.run import Note, Run
from assistant.parsing.counts import count_lines
from assistant.parsing.decoding import decode
from assistant.parsing.keyvalue import KeyValue
from assistant.parsing.lazy import FORMATS, LazyFormat
from assistant.parsing.prose import Prose, find_prose
from assistant.parsing.registry import Format, Registry
from assistant.parsing.repair import Document, prepare
from assistant.parsing.table import Reading
from assistant.parsing.verl import VerlConsole

__all__ = [
    "Document",
    "Format",
    "Parsed",
    "Prose",
    "Reading",
    "Registry",
    "decode",
    "parse_bytes",
    "parse_text",
    "registry",
]

registry = Registry()
"""The formats in use; the built-in ones are registered here like any other."""
registry.register(VerlConsole())
registry.register(LazyFormat("slime", 90, "slime:Slime", ("train/", "rollout/", "perf/", "eval/")))
registry.register(LazyFormat("areal", 90, "areal:AReaL", ("╒",)))
registry.register(LazyFormat("nemo-rl", 90, "nemo_rl:NeMoRL", ("Training Results:", "Validation Results:")))
registry.register(LazyFormat("deepspeed-chat", 90, "deepspeed_chat:DeepSpeedChat", ("ppo_ep", "PPO Epoch")))
registry.register(LazyFormat("minimind", 90, "minimind:MiniMind", ("poch",)))
registry.register(
    LazyFormat(
        "openrlhf", 90, "openrlhf:OpenRLHF", ("lobal step ", "lobal_step ", "Train epoch [", "Episode [", "of epoch ")
    )
)
registry.register(LazyFormat("roll", 85, "roll:ROLL", ("pipeline step ", "@sum", "system/tps")))
registry.register(LazyFormat("prime-rl", 80, "primerl:PrimeRL", ("Step ",)))
registry.register(LazyFormat("logger-pairs", 9, "levelpairs:LevelPairs", ("=", ":")))
registry.register(LazyFormat("hf-dict", 60, "hfdict:HFDict", ("{'",)))
registry.register(
    LazyFormat(
        "trainer-jsonl", 66, "trainerjson:TrainerJsonLines", ("current_steps", "total_steps", "max_steps", "_time")
    )
)
registry.register(LazyFormat("trainer-state", 64, "trainerstate:TrainerStateJson", ('"log_history"',)))
registry.register(LazyFormat("notebook-table", 62, "notebook:NotebookTable", ("Training Loss", "Validation Loss")))
for lazy in FORMATS:
    registry.register(lazy)
registry.register(KeyValue())


@dataclass(frozen=True)
class Parsed:
    """All that was read from one text.

    Attributes:
        runs: tables, in order of appearance; empty if the text holds no metric.
        prose: paragraphs of natural language around the log.
        notes: what was repaired in the text as a whole.
        text_lines: number of lines of the text.
    """

    runs: tuple[Run, ...]
    prose: tuple[Prose, ...]
    notes: tuple[Note, ...]
    text_lines: int


def parse_text(text: str, *, name: str = "pasted text") -> Parsed:
    """Reads a pasted text or a file's text.

    Args:
        text: anything; carriage returns, colour codes, double encoding and wrapped lines are repaired.
        name: for display.

    Returns:
        The runs with exact values and 1-based line numbers of the given text. Never raises on content.
    """
    document = prepare(name, text)
    reading = registry.read(document)
    counts = count_lines(document, reading)
    runs = tuple(replace(run, lines=counts) for run in reading.runs)
    prose = find_prose(document.lines, document.numbers, reading.taken, reading.asking)
    return Parsed(runs, prose, document.notes, document.text_lines)


def parse_bytes(data: bytes, *, name: str) -> Parsed:
    """Reads a file's bytes.

    Args:
        data: UTF-8 (with or without mark), UTF-16, GB18030, or UTF-8 with damaged bytes.
        name: file name, for display and messages.

    Raises:
        EmptyInput: nothing but white space.
        BinaryInput: the bytes are no text.
    """
    text, notes = decode(data, name)
    parsed = parse_text(text, name=name)
    return replace(parsed, notes=notes + parsed.notes)

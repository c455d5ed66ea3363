"""Text of a training log in, exact tables out: what was printed, where, and what is not there.

``parse_text`` and ``parse_bytes`` are the entrance; :data:`registry` holds the formats.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assistant.parsing.decoding import decode
from assistant.parsing.feed import Progress
from assistant.parsing.keyvalue import KeyValue
from assistant.parsing.lazy import FORMATS, LazyFormat
from assistant.parsing.numbers import bounded
from assistant.parsing.prose import Prose
from assistant.parsing.reading import Parsed, read_data, read_file, read_text
from assistant.parsing.registry import Format, Registry
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading
from assistant.parsing.verl import VerlConsole
from assistant.parsing.versions import with_versions

__all__ = [
    "Document",
    "Format",
    "Parsed",
    "Prose",
    "Reading",
    "Registry",
    "decode",
    "parse_bytes",
    "parse_file",
    "parse_text",
    "registry",
]

registry = Registry()
"""The formats in use; the built-in ones are registered here like any other."""
registry.register(VerlConsole())
registry.register(
    LazyFormat("slime", 90, "slime:Slime", ("train/", "rollout/", "perf/", "eval/", "passrate/", "multi_turn/"))
)
registry.register(LazyFormat("areal", 90, "areal:AReaL", ("│", "RPC name ", ") finishes.")))
registry.register(LazyFormat("nemo-rl", 90, "nemo_rl:NeMoRL", ("Training Results:", "Validation Results")))
registry.register(
    LazyFormat("deepspeed-chat", 90, "deepspeed_chat:DeepSpeedChat", ("ppo_ep", "PPO Epoch", "Actor Loss"))
)
registry.register(LazyFormat("deepspeed-chat-eval", 91, "dschateval:DeepSpeedChatEvaluations", ("** Evaluating ",)))
registry.register(LazyFormat("minimind", 90, "minimind:MiniMind", ("poch",)))
registry.register(
    LazyFormat(
        "openrlhf", 90, "openrlhf:OpenRLHF", ("lobal step ", "lobal_step ", "Train epoch [", "Episode [", "of epoch ")
    )
)
registry.register(LazyFormat("easyr1", 88, "easyr1:EasyR1", ("Step ",)))
registry.register(LazyFormat("roll", 85, "roll:ROLL", ("pipeline step ", "@sum", "system/tps")))
registry.register(LazyFormat("prime-rl", 80, "primerl:PrimeRL", ("tep ", "| Time")))
registry.register(LazyFormat("logger-pairs", 9, "levelpairs:LevelPairs", ("=", ":")))
registry.register(LazyFormat("tf-estimator", 12, "estimator:Estimator", ("=", "runtime", "/sec")))
registry.register(LazyFormat("loose-lines", 3, "looselines:LooseLines", ("=", ":", ", ")))
registry.register(LazyFormat("hf-dict", 60, "hfdict:HFDict", ("{'", "'loss': ")))
registry.register(
    LazyFormat(
        "trainer-jsonl", 66, "trainerjson:TrainerJsonLines", ("current_steps", "total_steps", "max_steps", "_time")
    )
)
registry.register(LazyFormat("trainer-state", 64, "trainerstate:TrainerStateJson", ('"log_history"', '}, {"')))
registry.register(LazyFormat("notebook-table", 62, "notebook:NotebookTable", ("Training Loss", "Validation Loss")))
for lazy in FORMATS:
    registry.register(lazy)
registry.register(KeyValue())


def parse_text(text: str, *, name: str = "pasted text") -> Parsed:
    """Reads a pasted text or a file's text.

    Args:
        text: anything; carriage returns, colour codes, double encoding and wrapped lines are repaired.
        name: for display.

    Returns:
        The runs with exact values and 1-based line numbers of the given text. Never raises on content.
    """
    return _with_versions(read_text(registry, text, name))


def parse_bytes(data: bytes, *, name: str, thorough: bool = False) -> Parsed:
    """Reads a file's bytes.

    Args:
        data: a text in UTF-8 (with or without mark), UTF-16, GB18030, or UTF-8 with damaged bytes; a TensorBoard event
            file; either of them packed with gzip or zstd.
        name: file name, for display and messages.
        thorough: look at every line of a large log for metrics that were not understood.

    Raises:
        EmptyInput: nothing but white space.
        BinaryInput: the bytes are no text.
        InputError: an archive expands to more than 4 GiB.
    """
    return _with_versions(read_data(registry, data, name, thorough=thorough))


def parse_file(
    path: Path | str, *, name: str | None = None, thorough: bool = False, progress: Progress | None = None
) -> Parsed:
    """Reads a file as :func:`parse_bytes` does, a large log in parts.

    Args:
        path: the file.
        name: for display; the file's name if none is given.
        thorough: look at every line of a large log for metrics that were not understood.
        progress: is told how many bytes have been read.

    Raises:
        OSError: it cannot be read.
    """
    path = Path(path)
    return _with_versions(read_file(registry, path, name or path.name, thorough=thorough, progress=progress))


def _with_versions(parsed: Parsed) -> Parsed:
    return replace(parsed, runs=with_versions(tuple(map(bounded, parsed.runs))))

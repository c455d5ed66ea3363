"""Runs the product through its command line; texts and patterns that the acceptance tests share."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .figures import ROOT, example_text, read_rows

TIMEOUT_S = 120
CJK = r"[\u3400-\u9fff]"
SCHEMA_ID = "metric-assistant/answer/1"

Answer = dict[str, Any]
Completed = subprocess.CompletedProcess[str]


def product_environment(home: Path) -> dict[str, str]:
    """Build an environment with no key, no settings and no way out: whatever leaves loopback is refused."""
    dropped = ("ASSISTANT_", "OPENAI_", "HTTP_", "HTTPS_", "ALL_", "NO_PROXY")
    env = {k: v for k, v in os.environ.items() if not k.upper().startswith(dropped)}
    nowhere = "http://127.0.0.1:9"
    return env | {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "http_proxy": nowhere,
        "https_proxy": nowhere,
        "all_proxy": nowhere,
        "no_proxy": "127.0.0.1,localhost",
    }


class Product:
    """``metric-assistant`` as a user starts it; equal calls are run once."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self._seen: dict[tuple[Any, ...], Completed] = {}

    @staticmethod
    def command(*args: str) -> list[str]:
        return [sys.executable, "-m", "assistant.cli.main", *args]

    def run(self, *args: str | Path, input: str | bytes | None = None) -> Completed:
        words = tuple(str(arg) for arg in args)
        key = (*words, input)
        if key not in self._seen:
            data = input.encode() if isinstance(input, str) else input or b""
            done = subprocess.run(
                self.command(*words),
                input=data,
                capture_output=True,
                cwd=ROOT,
                env=self.env,
                timeout=TIMEOUT_S,
                check=False,
            )
            self._seen[key] = subprocess.CompletedProcess(
                words, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
            )
        return self._seen[key]


def strict_json(text: str) -> Any:
    """Parse JSON as RFC 8259 has it: no bare NaN or Infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(f"bare {name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def assert_no_traceback(done: Completed) -> None:
    assert "Traceback (most recent call last)" not in done.stdout + done.stderr, done.stderr[-3000:]


def read_answer(done: Completed, *, statuses: tuple[int, ...] = (0,)) -> Answer:
    """Read the answer object a command printed, after what every answer must satisfy."""
    assert_no_traceback(done)
    assert done.returncode in statuses, f"{done.args} -> {done.returncode}\n{done.stderr[-3000:]}"
    answer = strict_json(done.stdout)
    assert answer["schema"] == SCHEMA_ID
    assert answer["language"] in ("zh", "en")
    assert answer["verdict"]["code"]
    assert answer["answer"].strip()
    return answer


# --- logs ---------------------------------------------------------------------------------------


def log_of(*steps: int) -> str:
    """Return the lines of these steps of the example log, and nothing else."""
    rows = read_rows(example_text())
    return "".join(rows[step].text + "\n" for step in steps)


def hard_wrap(text: str, width: int, *, strip: bool) -> str:
    """Break each line at ``width`` columns as a terminal copy does; ``strip`` loses blanks at the ends."""
    out = []
    for line in text.splitlines():
        pieces = [line[i : i + width] for i in range(0, len(line), width)]
        out += [piece.rstrip() if strip else piece for piece in pieces]
    return "\n".join(out) + "\n"


def mojibake(text: str) -> str:
    """Encode text as UTF-8 and read it as Windows-1252 (Latin-1 where that has no character)."""

    def decode(byte: int) -> str:
        raw = bytes([byte])
        try:
            return raw.decode("cp1252")
        except UnicodeDecodeError:
            return raw.decode("latin-1")

    return "".join(map(decode, text.encode()))


def cut_validation_step(step: int, columns: int = 4096) -> str:
    """Return the log of steps 1 to 3 in which ``step`` also validated and its line was cut at ``columns``."""
    rows = read_rows(example_text())
    prefix, _, metrics = rows[step].text.partition(f"step:{step} - ")
    validation = rows[0].text.partition("step:0 - ")[2].strip()
    long_line = f"{prefix}step:{step} - {validation} - {metrics}"
    assert len(long_line) > columns
    return "".join((long_line[:columns] if n == step else rows[n].text) + "\n" for n in (1, 2, 3))


def cut_within_number(step: int, metric: str, digits: int, *, prefixed: bool, columns: int = 4096) -> str:
    """Return the log of steps 1 to 3 with ``step`` cut after the first ``digits`` characters of a value.

    Cells of the validation stand in front, and one of filler, so that the cut falls at ``columns``.
    """
    rows = read_rows(example_text())
    prefix, _, metrics = rows[step].text.partition(f"step:{step} - ")
    head = (prefix if prefixed else "") + f"step:{step} - "
    tail = metrics[: metrics.index(f"{metric}:") + len(metric) + 1 + digits]
    filler = "val-aux/{}/acc/mean@30:np.float64(0.5) - "
    for cell in rows[0].text.partition("step:0 - ")[2].strip().split(" - "):
        if len(head) + len(cell) + len(tail) + len(filler) + 50 > columns:
            break
        head += f"{cell} - "
    head += filler.format("x" * (columns - len(head) - len(tail) - len(filler.format(""))))
    cut = head + tail
    assert len(cut) == columns
    return "".join((cut if n == step else rows[n].text) + "\n" for n in (1, 2, 3))


# --- reading an answer's text -------------------------------------------------------------------

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_PLAIN = {0xFF10 + digit: str(digit) for digit in range(10)} | {
    0xFF05: "%",  # full-width per cent, full stop; the two minus signs
    0xFF0E: ".",
    0x2212: "-",
    0xFE63: "-",
}


def normalise(markdown: str) -> str:
    """Write numbers one way: ASCII digits and signs, ``2.4e-5`` for powers of ten, no thin spaces."""
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+", lambda m: "^" + m[0].translate(_SUPERSCRIPTS), markdown)
    text = re.sub(r"<sup>([^<]*)</sup>", r"^\1", text).translate(_PLAIN)
    text = re.sub(r"(\d)\s*(?:[×x*·]|\\times)\s*10\^\{?([-+]?\d+)\}?", r"\1e\2", text)
    text = re.sub(r"(?<=\d)[\u2009\u202f\u00a0](?=\d{3})", "", text)
    return text.replace("**", "").replace("\u00a0", " ").replace("\u202f", " ").replace("\u2009", " ")


def plain(markdown: str) -> str:
    """Return the text a reader sees, code marks dropped and spaces in a line collapsed."""
    return re.sub(r"[ \t]+", " ", normalise(markdown).replace("`", ""))


def says(markdown: str, pattern: str) -> bool:
    return re.search(pattern, plain(markdown), re.IGNORECASE) is not None


def assert_says(answer: Answer, **patterns: str) -> None:
    """Each keyword names a point and gives the pattern, any wording of which will do."""
    unsaid = [name for name, pattern in patterns.items() if not says(answer["answer"], pattern)]
    assert not unsaid, f"not said: {unsaid}\n\n{answer['answer']}"


def prose(markdown: str) -> str:
    """Drop code, links, keys and table rules: what is left is in a human language."""
    text = re.sub(r"```.*?```", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", " ", text)
    text = re.sub(r"\]\([^)]*\)|https?://\S+", " ", text)
    return re.sub(r"[A-Za-z0-9][A-Za-z0-9.-]*(?:[/_@#][A-Za-z0-9_@/#.-]*)+", " ", text)


def assert_language(answer: Answer, language: str) -> None:
    """Check the declared language, and that the prose is written in it."""
    assert answer["language"] == language
    for text in (answer["answer"], answer["verdict"]["summary"]):
        cjk = len(re.findall(CJK, prose(text)))
        words = len(re.findall(r"[A-Za-z]{2,}", prose(text)))
        if language == "zh":
            assert cjk > 1.5 * words, f"{cjk} CJK characters beside {words} English words\n{text}"
        else:
            assert words > 10 * cjk, f"{words} English words beside {cjk} CJK characters\n{text}"


def says_key(markdown: str, key: str) -> bool:
    return re.search(rf"(?<![\w/@]){re.escape(key)}(?![\w/@])", markdown) is not None


# --- facts --------------------------------------------------------------------------------------


def facts_of(answer: Answer, kind: str, **fields: Any) -> list[dict[str, Any]]:
    return [
        fact
        for fact in answer["facts"]
        if fact["kind"] == kind and all(fact.get(name) == value for name, value in fields.items())
    ]


def value_cells(answer: Answer) -> set[tuple[str, int, float | str]]:
    return {(fact["metric"], fact["step"], fact["value"]) for fact in facts_of(answer, "value")}


def derived_values(answer: Answer) -> list[float]:
    return [fact["value"] for fact in facts_of(answer, "derived") if isinstance(fact["value"], int | float)]


def parsed_rows(done: Completed) -> dict[int, dict[str, Any]]:
    """Return the rows of the only run that ``parse --to json`` printed, by step."""
    assert_no_traceback(done)
    assert done.returncode == 0, done.stderr
    runs = strict_json(done.stdout)["runs"]
    assert len(runs) == 1
    return {row["step"]: row for row in runs[0]["rows"]}

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.parsing import Document, Reading, Registry, parse_text, registry
from assistant.parsing.reading import read_text
from assistant.parsing.table import Row, build_run
from assistant.parsing.verl import VerlConsole

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "parsers.md"


class Words:
    """Takes the lines that begin with a word; the value is the number behind it."""

    def __init__(self, name: str, strength: int, word: str, cells: int = 2) -> None:
        self.name = name
        self.strength = strength
        self.word = word
        self.cells = cells

    def read(self, document: Document) -> Reading:
        rows = [
            Row(int(line.split()[1]), number, {f"{self.word}/{n}": 0.5 for n in range(self.cells)})
            for line, number in zip(document.lines, document.numbers, strict=True)
            if line.startswith(self.word)
        ]
        if not rows:
            return Reading()
        run = build_run(rows, id="r0", name="x", format=self.name, framework=None, step_axis="step")
        return Reading((run,), frozenset(row.line for row in rows))


def registry_of(*formats: Any) -> Registry:
    made = Registry()
    for known in formats:
        made.register(known)
    return made


def test_registry_disjoint_logs_are_both_read_in_order_of_appearance() -> None:
    text = "bb 1\nbb 2\nbb 3\nnoise\naa 7\naa 8\n"
    parsed = read_text(registry_of(Words("first", 90, "aa"), Words("second", 60, "bb")), text, "x")
    assert [(run.id, run.format, run.steps) for run in parsed.runs] == [
        ("r0", "second", (1, 2, 3)),
        ("r1", "first", (7, 8)),
    ]
    assert (parsed.runs[0].lines.taken, parsed.runs[0].lines.ignored) == (5, 1)
    assert parsed.notes == ()


def test_registry_few_other_lines_do_not_make_a_run() -> None:
    text = "aa 1\naa 2\nbb 1\n"
    parsed = read_text(registry_of(Words("first", 90, "aa"), Words("second", 60, "bb")), text, "x")
    assert [run.format for run in parsed.runs] == ["first"]


def test_registry_same_lines_go_to_the_stronger_and_a_note_lists_the_candidates() -> None:
    text = "aa 1\naa 2\n"
    parsed = read_text(registry_of(Words("weaker", 60, "aa", cells=3), Words("stronger", 90, "aa")), text, "x")
    assert [run.format for run in parsed.runs] == ["stronger"]
    (note,) = parsed.notes
    assert note.code == "format_choice"
    assert "stronger (4 / 2), weaker (6 / 2)" in note.en


def test_registry_weak_formats_count_only_where_no_log_format_found_anything() -> None:
    text = "aa 1\naa 2\nbb 1\nbb 2\n"
    assert [r.format for r in read_text(registry_of(Words("a", 90, "aa"), Words("b", 20, "bb")), text, "x").runs] == [
        "a"
    ]
    assert [r.format for r in read_text(registry_of(Words("b", 20, "bb")), text, "x").runs] == ["b"]


def test_parse_text_verl_and_trainer_in_one_file_are_two_runs() -> None:
    verl = "".join(f"step:{n} - actor/entropy:0.{n} - critic/score/mean:0.5\n" for n in range(1, 6))
    trainer = "".join(
        f"{{'loss': 0.{n}, 'grad_norm': 1.5, 'learning_rate': 1e-06, 'epoch': 0.{n}}}\n" for n in range(1, 6)
    )
    parsed = parse_text(verl + "\nnow the other training\n\n" + trainer)
    assert [run.format for run in parsed.runs][:1] == ["verl"]
    assert len(parsed.runs) == 2
    assert parsed.runs[1].row_lines == (9, 10, 11, 12, 13)
    assert parsed.runs[0].lines.not_understood == 0


def test_parsers_document_example_reads_its_line_through_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert code.count("\n") <= 30
    space: dict[str, Any] = {}
    exec(code, space)

    class Entry:
        def load(self) -> Any:
            return space["AtLines"]

    def entry_points(*, group: str) -> Iterator[Entry]:
        assert group == "metric_assistant.parsers"
        return iter([Entry()])

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    made = registry_of(VerlConsole())
    assert made.load_entry_points() == ["at-lines"]
    assert made.load_entry_points() == []
    (run,) = read_text(made, "hello\n@7 loss=0.5 acc=1e-3\n@8 loss=0.25 acc=2\n", "x").runs
    assert [(step, line, values) for step, line, values in run.rows()] == [
        (7, 2, {"loss": 0.5, "acc": 0.001}),
        (8, 3, {"loss": 0.25, "acc": 2}),
    ]


def test_load_installed_finds_a_package_by_its_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Registry().load_installed() == []
    folder = tmp_path / "offer-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: offer\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[metric_assistant.parsers]\nverl = assistant.parsing.verl:VerlConsole\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert Registry().load_installed() == ["verl"]


def test_registry_formats_are_all_strong_or_weak_on_purpose() -> None:
    assert registry.formats()[0].name == "verl"
    assert len({known.name for known in registry.formats()}) == len(registry.formats())

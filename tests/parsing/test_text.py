import math
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.errors import BinaryInput, EmptyInput
from assistant.parsing import Document, Reading, Registry, decode, parse_bytes, parse_text
from assistant.parsing.mojibake import repair_mojibake
from assistant.parsing.repair import strip_ansi
from tests.timing import assert_in_proportion

LINE = "step:1 - actor/kl:0.5"


def garble(text: str, page: str) -> str:
    """UTF-8 bytes read as a code page; bytes that it does not define become control characters."""
    out = []
    for byte in text.encode():
        try:
            out.append(bytes([byte]).decode(page))
        except UnicodeDecodeError:
            out.append(chr(byte))
    return "".join(out)


@pytest.mark.parametrize("page", ["cp1252", "cp1254", "latin-1"])
@pytest.mark.parametrize(
    "text", ["解读这个测试结果，谢谢", "👤 You\n\n训练是否正常？\nplain line", "naïve – “quotes” 训练"]
)
def test_repair_mojibake_double_encoded_text_comes_back(page: str, text: str) -> None:
    garbled = garble(text, page)
    if text.startswith("na"):
        garbled = garbled + garble("\n训练日志", page)
        text = text + "\n训练日志"
    fixed, notes = repair_mojibake(garbled)
    assert fixed == text
    assert [note.code for note in notes] == ["mojibake"]


def test_repair_mojibake_lost_bytes_show_as_replacement_and_are_counted() -> None:
    garbled = "".join(c for c in garble("这个测试结果如何", "cp1254") if not 0x80 <= ord(c) < 0xA0)
    fixed, notes = repair_mojibake(garbled + "\nsecond")
    assert "\ufffd" in fixed
    assert "这个" in fixed
    assert fixed.count("\n") == 1
    assert str(fixed.count("\ufffd")) in notes[0].en


@pytest.mark.parametrize(
    "text",
    [
        "Le modèle a été entraîné à nouveau, où ça ?",
        "Eğitim kaybı düştü, ödül değişmedi; güncelleme şöyle",
        "训练正常吗？奖励“很高”",
        "Größe über Maß – ¿qué?",
        "plain",
        "façade Ã",
    ],
)
def test_repair_mojibake_sound_text_is_left_alone(text: str) -> None:
    assert repair_mojibake(text) == (text, ())


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
@settings(max_examples=150, deadline=None)
def test_parse_text_any_text_never_raises_and_counts_every_line(text: str) -> None:
    parsed = parse_text(text + "\n" + LINE)
    (run,) = parsed.runs
    assert run.lines.taken + run.lines.ignored + run.lines.not_understood == parsed.text_lines


@given(st.text(alphabet="step:0123456789 -/.abnpflot()_\n\r\x1b[m'\"{},=*#`", max_size=300))
@settings(max_examples=400, deadline=None)
def test_parse_text_log_like_garbage_never_raises(text: str) -> None:
    parsed = parse_text(text)
    for run in parsed.runs:
        assert run.lines.taken + run.lines.ignored + run.lines.not_understood == parsed.text_lines
        assert all(1 <= line <= parsed.text_lines for column in run.columns.values() for line in column.lines)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "-",
        "(",
        "step:1 - ",
        "step:1 - \n",
        " - ",
        "a:",
        "[",
        "\r",
        "\x1b[",
        "Ã©",
        "x/",
        "a_b: 1\n",
        "1,",
        "- **",
    ],
)
def test_parse_text_megabyte_of_one_pattern_is_quick(unit: str) -> None:
    for head in ("", "step:1 - "):
        assert_in_proportion(parse_text, lambda size, head=head: head + unit * (size // len(unit)), 1_000_000)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "gb18030"])
def test_parse_bytes_encodings_give_the_same_text(encoding: str) -> None:
    text = f"训练日志如下，请解读一下这次训练的结果\n{LINE}\n"
    parsed = parse_bytes(text.encode(encoding), name="a.log")
    assert parsed.runs[0].row_lines == (2,)
    assert parsed.prose[0].text == "训练日志如下，请解读一下这次训练的结果"


def test_decode_few_bad_bytes_are_shown_and_noted() -> None:
    text, notes = decode(b"ok \xff line\n" * 1 + LINE.encode() * 20, "a.log")
    assert "\ufffd" in text
    assert [note.code for note in notes] == ["bytes_lost"]


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf \n"])
def test_parse_bytes_blank_raises_empty_input(data: bytes) -> None:
    with pytest.raises(EmptyInput) as caught:
        parse_bytes(data, name="a.log")
    assert "a.log" in caught.value.zh
    assert "paste" in caught.value.en


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08" + b"x" * 50, b"PK\x03\x04" + b"x" * 50, bytes(range(256)) * 20])
def test_parse_bytes_binary_raises_binary_input(data: bytes) -> None:
    with pytest.raises(BinaryInput) as caught:
        parse_bytes(data, name="events.out")
    assert "events.out" in caught.value.en


def test_strip_ansi_keeps_line_breaks_and_text() -> None:
    assert strip_ansi("\x1b[1;34mwandb\x1b[0m: x\n\x1b]8;;http://a\x07b\x1b[K") == "wandb: x\nb"


def test_parse_text_carriage_returns_keep_line_numbers() -> None:
    run = parse_text(f"bar 1%\rbar 2%\rbar 3%\n{LINE}\n").runs[0]
    assert run.row_lines == (2,)


def test_parse_text_old_mac_line_ends_are_lines() -> None:
    assert parse_text(f"intro\r{LINE}\rend").runs[0].row_lines == (2,)


def test_parse_text_question_positions_are_told() -> None:
    parsed = parse_text(f"请看这段日志\n\n{LINE}\n中间的一段说明文字\nstep:2 - actor/kl:0.6\n\nIs the KL too high?\n")
    assert [(p.text, p.line, p.position) for p in parsed.prose] == [
        ("请看这段日志", 1, "before"),
        ("中间的一段说明文字", 4, "between"),
        ("Is the KL too high?", 7, "after"),
    ]


def test_parse_text_noise_is_no_prose() -> None:
    noise = [
        "wandb: Run data is saved locally in here",
        "2025-01-01 10:00:00 INFO starting the training now",
        "Training Progress:   0%|          | 1/10 [00:01<00:09]",
        "  warnings.warn('you should not do this')",
        "(TaskRunner pid=1) this is what the worker said to us",
        "{'actor': {'strategy': 'fsdp'}}",
    ]
    assert parse_text("\n".join([*noise, LINE])).prose == ()


def test_parse_text_many_paragraphs_keeps_first_and_last_five() -> None:
    text = "\n\n".join([f"paragraph number {n} of the text" for n in range(40)] + [LINE])
    lines = [p.line for p in parse_text(text).prose]
    assert lines == [1, 3, 5, 7, 9, 71, 73, 75, 77, 79]


def test_registry_stronger_format_wins_and_same_name_replaces() -> None:
    class Strong:
        name = "mine"
        strength = 200

        def read(self, document: Document) -> Reading:
            return Reading(not_understood=(1,))

    registry = Registry()
    registry.register(Strong())
    registry.register(Strong())
    assert [known.name for known in registry.formats()] == ["mine"]
    document = Document("x", ["a"], [1], 1)
    assert registry.read(document) == Reading(not_understood=(1,))


def test_import_parsing_loads_no_heavy_module() -> None:
    code = (
        "import sys, assistant.parsing; "
        "print([m for m in ('pandas', 'yaml', 'jsonschema', 'rich', 'numpy', 'fastapi') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_parse_bytes_gb18030_with_progress_bars_is_text() -> None:
    text = "训练：\nEpoch 1/2\n60/60 ━━━━━━━━━━━━━━━━━━━━ 5s 87us/step - loss: 0.5\n100%|██████████| ± 3\n"
    (run,) = parse_bytes(text.encode("gb18030"), name="x").runs
    assert list(run.columns["loss"].values) == [0.5]


def test_parse_bytes_utf8_that_begins_as_utf16_is_read() -> None:
    (run,) = parse_bytes(b"\xff\xfe\xfa bad\nstep=1, loss=0.5\nstep=2, loss=0.4\n", name="x").runs
    assert run.steps == (1, 2)


def test_parse_text_integer_beyond_the_largest_float_is_infinite_as_its_float_is() -> None:
    big = "7" * 330
    lines = [f"step:{step} - actor/loss:{'-' * (step % 2) + big if step > 2 else 0.5} - a/n:12" for step in range(1, 5)]
    (run,) = parse_text("\n".join(lines)).runs
    assert [run.cell("actor/loss", step).value for step in run.steps] == [0.5, 0.5, -math.inf, math.inf]  # type: ignore[union-attr]
    assert [run.cell("a/n", step).value for step in run.steps] == [12] * 4  # type: ignore[union-attr]

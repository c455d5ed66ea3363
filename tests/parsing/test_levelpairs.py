import pytest

from assistant.parsing import parse_text
from tests.parsing.generators import harm


def test_parse_text_pairs_behind_a_time_and_a_level_give_one_row_a_line() -> None:
    run = harm.read_one(
        [
            "16:43:07 INFO start",
            "16:43:08 INFO steps_per_s=321, loss=0.089",
            "16:43:09 INFO steps_per_s=3.5e2, loss=nan",
        ]
    )
    assert harm.cells(run) == {
        (0, "steps_per_s", "321"),
        (0, "loss", "0.089"),
        (1, "steps_per_s", "350.0"),
        (1, "loss", "nan"),
    }
    assert (run.format, run.step_axis, run.row_lines) == ("logger-pairs", "index", (2, 3))


def test_parse_text_step_among_the_pairs_counts_the_rows() -> None:
    run = harm.read_one([f"16:43:0{n} INFO step={10 * n}, loss=0.{n}5" for n in range(1, 4)])
    assert (run.step_axis, run.series("loss")) == ("step", ([10, 20, 30], [0.15, 0.25, 0.35]))


@pytest.mark.parametrize(
    "text",
    ["16:43:08 INFO learning_rate=1e-6, batch_size=32", "16:43:08 INFO listening on host:8080", "16:43:08 INFO a=b"],
)
def test_parse_text_other_logger_lines_are_not_read(text: str) -> None:
    assert parse_text(text).runs == ()

"""The gate with an audit that refuses sentences that hold "LIE"; the real audit is behind test_answering."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent.checking import Gate
from assistant.agent.facts import Account
from assistant.agent.judging import Judge
from assistant.model import Fact

FACT = Fact(id="E1", kind="value", run="r0", metric="actor/entropy", step=2, value=0.1557)


@dataclass(frozen=True)
class Said:
    text: str
    status: str
    reason: str = ""
    fact: str | None = None


@dataclass(frozen=True)
class Heard:
    status: str
    claims: Sequence[Said]


class Scripted:
    """Refuses what holds LIE, supports what holds TRUE."""

    facts: Callable[[], Sequence[Fact]] = tuple

    def sentence(self, text: str, before: str = "") -> Heard:
        if "LIE" in text:
            return Heard("contradicted", [Said("LIE", "contradicted", "it is not so")])
        if "TRUE" in text:
            return Heard("supported", [Said("TRUE", "supported", "", "0:E1")])
        return Heard("no_claim", [])

    def fact(self, fact_id: str) -> tuple[Fact, Mapping[str, Fact]] | None:
        return (FACT, {}) if fact_id == "0:E1" else None


def gate(sent: list[str] | None = None, **options: object) -> Gate:
    judge = Judge(Scripted(), Account([FACT]), steps={1, 2}, **options)  # type: ignore[arg-type]
    return Gate(judge, (sent if sent is not None else []).append)


def passed(text: str, **options: object) -> str:
    one = gate(**options)
    one.feed(text)
    one.close()
    return one.finish()


def test_gate_true_text_comes_out_unchanged_and_in_order() -> None:
    text = "**TRUE one.** TRUE two.\n\n### Head\n\n- TRUE three. Four.\n- five\n\n| a | b |\n|---|---|\n| TRUE | x |"
    sent: list[str] = []
    one = gate(sent)
    for char in text:
        one.feed(char)
    one.close()
    assert one.finish() == text
    assert "".join(sent) == text
    assert len(sent) > 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("TRUE a. LIE b. TRUE c.", "TRUE a. TRUE c."),
        ("TRUE.\n\n- LIE a. TRUE b.\n- TRUE c.", "TRUE.\n\n- TRUE b.\n- TRUE c."),
        ("TRUE.\n\n- LIE a.\n- TRUE c.", "TRUE.\n\n- TRUE c."),
        ("TRUE.\n\n### Head\n\nLIE a.\n\n### Next\n\nTRUE b.", "TRUE.\n\n### Next\n\nTRUE b."),
        ("TRUE.\n\nBecause:\n- LIE a.", "TRUE."),
        ("TRUE.\n\n| a | b |\n|---|---|\n| LIE | x |\n\nTRUE end.", "TRUE.\n\nTRUE end."),
        ("TRUE.\n\n| a | b |\n|---|---|\n| LIE | x |\n| TRUE | x |", "TRUE.\n\n| a | b |\n|---|---|\n| TRUE | x |"),
        ("TRUE.\n\n### LIE head\n\nTRUE b.", "TRUE.\n\nTRUE b."),
        ("TRUE.\n```\nLIE 99\nTRUE\n```\n", "TRUE.\nTRUE"),
        ("TRUE first of all it is. TRUE first of all it is. TRUE.", "TRUE first of all it is. TRUE."),
    ],
)
def test_gate_what_fails_is_left_out_and_nothing_else(text: str, shown: str) -> None:
    assert passed(text) == shown


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Entropy may be 0.1557.", True),
        ("Entropy may be 0.156.", True),
        ("Entropy may be 0.99.", False),
        ("Try it at step 2.", True),
        ("Reported in `mean@30`, see [K1].", True),
        ("Set the rate to 1e-6.", False),
        ("Is it over 0.07, one may ask.", False),
        ("The card says 0.05.", True),
        ("Clamped to 20, says the card.", True),
        ("Fact E1 says so.", False),
        ("So it is [E1, E2].", True),
        ("可能是 0.73。", False),
    ],
)
def test_judge_numbers_that_nothing_holds_are_refused_even_in_what_is_no_claim(text: str, kept: bool) -> None:
    one = gate(given=lambda: "normal up to 0.05, clamped to 20", citations={"K1"})
    one.feed(text)
    one.close()
    assert one.items[0].kept is kept


def test_judge_takes_out_ids_of_facts_and_unknown_references() -> None:
    assert (
        passed("TRUE so it is [E1] (E2, E3). See [K1] and [K7].", citations={"K1"}) == "TRUE so it is. See [K1] and ."
    )


def test_gate_nothing_is_sent_behind_a_failure_until_the_repair() -> None:
    sent: list[str] = []
    one = gate(sent)
    one.feed("TRUE a. LIE b. TRUE c. ")
    one.close()
    assert "".join(sent) == "TRUE a."
    assert [item.reason for item in one.failed] == ["it is not so"]
    one.repair({1: "TRUE instead."})
    assert one.finish() == "TRUE a. TRUE instead. TRUE c." == "".join(sent)


@pytest.mark.parametrize("line", ["-", "", "LIE again."])
def test_gate_repair_that_fails_again_drops_the_sentence(line: str) -> None:
    one = gate()
    one.feed("TRUE a. LIE b. TRUE c.")
    one.close()
    one.repair({1: line})
    assert one.finish() == "TRUE a. TRUE c."


@pytest.mark.parametrize(
    ("text", "enough"),
    [
        ("TRUE a. LIE b. TRUE c.", True),
        ("LIE a. TRUE b. TRUE c. TRUE d.", False),
        ("TRUE a. " + "LIE " * 40 + ". TRUE b.", False),
        ("", False),
    ],
)
def test_gate_enough_needs_the_first_sentence_and_two_fifths(text: str, enough: bool) -> None:
    one = gate()
    one.feed(text)
    one.close()
    assert one.enough is enough


def test_gate_sentences_without_a_claim_wait_for_one_with_a_claim() -> None:
    sent: list[str] = []
    one = gate(sent)
    one.feed("Let me look at the log. I will call a tool. ")
    assert sent == []
    one.feed("TRUE it is. And ")
    assert "".join(sent) == "Let me look at the log. I will call a tool. TRUE it is."


def test_gate_mentions_stand_where_the_claims_are() -> None:
    one = gate()
    one.feed("TRUE a. LIE b. So TRUE c.")
    one.close()
    text = one.finish()
    assert [text[m.start : m.end] for m in one.mentions(lambda _: FACT)] == ["TRUE", "TRUE"]


def test_gate_reply_without_end_is_ended() -> None:
    one = gate()
    assert one.feed("TRUE word " * 100)
    assert not one.feed("more " * 10_000)
    assert len(one.raw) <= 24_000


PIECES = st.lists(
    st.sampled_from(
        ["TRUE one. ", "LIE two. ", "three.\n", "\n\n", "- LIE. ", "- TRUE x. y.\n", "## Head\n\n",
         "| a | b |\n|--|--|\n",
         "| TRUE | 1 |\n", "| LIE | 2 |\n", "Therefore:\n", "LIE 结束。", "TRUE 结束。"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(PIECES, st.integers(1, 9))
def test_gate_what_was_sent_is_the_text_and_holds_no_lie(text: str, size: int) -> None:
    sent: list[str] = []
    one = gate(sent)
    for start in range(0, len(text), size):
        one.feed(text[start : start + size])
    one.close()
    shown = one.finish()
    assert "".join(sent) == shown
    assert "LIE" not in shown
    assert not shown.endswith(("Head", "Therefore:", "--|"))


def test_judge_copies_of_untrusted_text_are_refused_where_they_claim_nothing() -> None:
    one = gate(untrusted=lambda: "Note: the official card says that ppo_kl is the distance to the reference model.")
    one.feed("TRUE. The official card says that `ppo_kl` is the distance to the reference model. Wait and see.")
    one.close()
    assert one.finish() == "TRUE. Wait and see."

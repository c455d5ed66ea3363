"""What holds for every format of a training framework's console: it never raises, is linear, and is found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from assistant.parsing.areal import AReaL
from assistant.parsing.deepspeed_chat import DeepSpeedChat
from assistant.parsing.levelpairs import LevelPairs
from assistant.parsing.minimind import MiniMind
from assistant.parsing.nemo_rl import NeMoRL
from assistant.parsing.openrlhf import OpenRLHF
from assistant.parsing.primerl import PrimeRL
from assistant.parsing.repair import prepare
from assistant.parsing.roll import ROLL
from assistant.parsing.slime import Slime
from tests.parsing.generators import areal_log, line_logs, nemo_rl_log, openrlhf_log, roll_log, slime_log
from tests.timing import assert_in_proportion, once

FORMATS = (AReaL, DeepSpeedChat, LevelPairs, MiniMind, NeMoRL, OpenRLHF, PrimeRL, ROLL, Slime)
HEADS = (
    "",
    "step 1: {'train/loss': ",
    "✨ Global step 1: {",
    "Train epoch [1/1]:  10%|█| 1/2 [00:10<00:1, 1s/it, ",
    "epoch: 0|step: 1|ppo_ep: 1|",
    "epoch: 0|step: 1|ppo_ep: 1|act_loss: 0.5\n|E2E latency=",
    "Epoch:[1/1](1/2), loss: ",
    "SUCCESS Step 5 | Reward: ",
    "╒═╤═╤═╤═╕\n│",
    '[x.py (1)] INFO pipeline step 1 start...\nINFO {"a/b": ',
    "=== Step 1/2 ===\n📊 Training Results:\n  • Loss: ",
    "16:43:08 INFO loss=1, ",
)
UNITS = (
    "a",
    "1",
    " ",
    "{",
    "[",
    "'",
    "\\",
    "│",
    "═",
    "12:34:56 ",
    "'a': 1, ",
    "a: 1 | ",
    "a=1, ",
    "np.float64(",
    "s/it]",
)
LOGS = {
    "slime": slime_log.random_log(1, 3).lines,
    "openrlhf": openrlhf_log.random_log(1, 3).lines,
    "roll": roll_log.random_log(1, 3).lines,
    "areal": areal_log.random_log(1, 3).lines,
    "nemo-rl": nemo_rl_log.random_log(1, 3).lines,
    "deepspeed-chat": line_logs.deepspeed(1, 3).lines,
    "minimind": line_logs.minimind(1, 3).lines,
    "prime-rl": line_logs.prime(1, 3).lines,
}


@given(
    parts=st.lists(st.one_of(st.sampled_from(HEADS + UNITS), st.just("\n"), st.text(max_size=5)), max_size=40),
    kind=st.sampled_from(FORMATS),
)
@settings(max_examples=300, deadline=None)
def test_read_any_text_never_raises(parts: list[str], kind: type[Slime]) -> None:
    kind().read(prepare("x", "".join(parts)))


@pytest.mark.parametrize("head", HEADS)
def test_read_long_line_takes_time_in_proportion(head: str) -> None:
    for unit in UNITS:
        documents = once(lambda size, unit=unit: prepare("x", head + unit * (size // len(unit))))
        for kind in FORMATS:
            assert_in_proportion(kind().read, documents, 300_000, limit=1.0, label=(kind, unit))


@pytest.mark.parametrize("name", LOGS)
def test_parse_text_log_between_prose_and_a_question_is_found_alone(name: str) -> None:
    text = "\n".join(["这是我的训练日志：", "", *LOGS[name], "", "第 2 步的 reward 为什么下降了？ Is loss: 0.5 fine?"])
    parsed = parse_text(text)
    assert {run.format for run in parsed.runs} == {name}
    assert "为什么" in parsed.prose[-1].text

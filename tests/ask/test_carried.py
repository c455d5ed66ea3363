from __future__ import annotations

import json

import pytest

from assistant.ask.carried import state_from_json, state_to_json
from assistant.ask.query import State
from assistant.model import InputError
from assistant.resources import data_folder
from assistant.service import service
from assistant.service.facade import Material, Source


@pytest.fixture(scope="module")
def material() -> Material:
    log = next(data_folder("examples").glob("*.log"))
    return service().read([Source(log.name, log.read_bytes())])


CONVERSATIONS = [
    ["entropy at step 2?", "and step 3?"],
    ["step 2 的熵是多少", "那 grad_norm 呢"],
    ["compare step 1 and step 3", "why?"],
    ["哪一步奖励最高", "那一步的长度呢", "in English please"],
    ["steps where grad norm is over 0.2", "and over 0.3?"],
]


@pytest.mark.parametrize("turns", CONVERSATIONS)
def test_state_through_json_answers_follow_ups_the_same(material: Material, turns: list[str]) -> None:
    kept: State | None = None
    passed: State | None = None
    library = service().resolver.library
    for turn in turns:
        one = service().explain(material, turn, state=kept)
        other = service().explain(material, turn, state=passed)
        assert other.answer.answer == one.answer.answer
        text = json.dumps(state_to_json(one.state))
        assert len(text) < 2500
        kept, passed = one.state, state_from_json(json.loads(text), library.get)
        assert passed == kept


def test_state_that_is_empty_comes_back() -> None:
    assert state_from_json(state_to_json(State()), service().resolver.library.get) == State()


def test_state_whose_card_is_gone_forgets_the_metric(material: Material) -> None:
    state = service().explain(material, "entropy at step 2?").state
    assert state.mentions
    assert state_from_json(state_to_json(state), lambda _: None).mentions == ()


@pytest.mark.parametrize(
    "data",
    [
        None, [], "x", 3, {}, {"schema": "metric-assistant/state/0"},
        {"schema": "metric-assistant/state/1", "intent": "sing"},
        {"schema": "metric-assistant/state/1", "mentions": [{"start": 0, "end": 1, "card": 3}]},
        {"schema": "metric-assistant/state/1", "steps": {"kind": "single", "values": ["a"]}},
        {"schema": "metric-assistant/state/1", "query": {"text": "x"}},
    ],
)  # fmt: skip
def test_state_of_another_shape_is_refused_with_a_clear_error(data: object) -> None:
    with pytest.raises(InputError, match="state"):
        state_from_json(data, service().resolver.library.get)

"""How often one client may call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.api.access import new_key
from assistant.api.app import create_app
from assistant.api.limits import MOST_CLIENTS, Buckets, RateLimited
from tests.api.client import LOG, Client, run


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def taken(buckets: Buckets, client: str = "a") -> bool:
    try:
        buckets.take(client)
    except RateLimited:
        return False
    return True


def test_take_burst_then_refused_until_refilled() -> None:
    clock = Clock()
    buckets = Buckets(2.0, 3, clock)
    assert [taken(buckets) for _ in range(4)] == [True, True, True, False]
    clock.now = 0.5
    assert [taken(buckets) for _ in range(2)] == [True, False]
    clock.now = 100.0
    assert [taken(buckets) for _ in range(4)] == [True, True, True, False]


def test_take_clients_do_not_share() -> None:
    buckets = Buckets(1.0, 1, Clock())
    assert taken(buckets, "a")
    assert taken(buckets, "b")
    assert not taken(buckets, "a")


def test_take_refusal_says_when_a_token_is_there() -> None:
    clock = Clock()
    buckets = Buckets(0.1, 1, clock)
    buckets.take("a")
    with pytest.raises(RateLimited) as caught:
        buckets.take("a")
    assert caught.value.extra["retry_after"] == 10
    clock.now = 10.0
    assert taken(buckets)


def test_take_without_a_rate_is_never_refused() -> None:
    buckets = Buckets(0.0, 1, Clock())
    assert all(taken(buckets) for _ in range(100))


def test_take_many_clients_are_bounded() -> None:
    buckets = Buckets(1.0, 1, Clock())
    for place in range(MOST_CLIENTS + 100):
        buckets.take(str(place))
    assert len(buckets._held) == MOST_CLIENTS


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60), st.floats(0.1, 20), st.integers(1, 10))
def test_take_over_any_time_never_gives_more_than_burst_and_rate(gaps: list[float], rate: float, burst: int) -> None:
    clock = Clock()
    buckets = Buckets(rate, burst, clock)
    given_ = 0
    for gap in gaps:
        clock.now += gap
        given_ += taken(buckets)
    assert given_ <= burst + rate * clock.now + 1e-6


def test_route_over_the_rate_is_a_problem_with_retry_after(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [new_key(name, ["ask", "read"]) for name in ("one", "other")]
    monkeypatch.setenv("ASSISTANT_API_KEYS", ",".join(entry for _, entry in keys))
    monkeypatch.setenv("ASSISTANT_RATE", "0.001")
    monkeypatch.setenv("ASSISTANT_RATE_BURST", "2")
    client = Client(create_app(), address="10.0.0.1")

    async def work() -> list[object]:
        async with client.open() as speaker:
            first, second = ({"x-api-key": key} for key, _ in keys)
            replies = [await speaker.post("/parse", json={"text": LOG}, headers=first) for _ in range(3)]
            assert (await speaker.get("/metrics-docs/verl/actor/ppo_kl", headers=first)).status_code == 200
            return [*replies, await speaker.post("/parse", json={"text": LOG}, headers=second)]

    *allowed, refused, other = run(work())
    assert [reply.status_code for reply in (*allowed, other)] == [200, 200, 200]  # type: ignore[attr-defined]
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")  # type: ignore[attr-defined]
    assert int(refused.headers["retry-after"]) > 100  # type: ignore[attr-defined]

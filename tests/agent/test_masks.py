from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent.masks import Masks

SECRETS = [
    "/mnt/nas/alice/run7/train.log", "gpu-node-17", "10.2.33.4:8080", "alice@corp.example.com",
    "https://git.corp.local/x/y?z=1", "trainer.cluster.internal", "~/secret/data",
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_masks_hide_and_restore(secret: str) -> None:
    masks = Masks()
    text = f"the log {secret} says `actor/ppo_kl` 0.15 at step 2"
    hidden = masks.hide(text)
    assert secret not in hidden
    assert "`actor/ppo_kl` 0.15 at step 2" in hidden
    assert masks.restore(hidden) == text


def test_masks_custom_names_are_the_same_each_time_and_hold_no_digit() -> None:
    masks = Masks([("metric", "acme/secret_loss"), ("run", "atlas-7b-v3.log")])
    hidden = masks.hide("`acme/secret_loss` of atlas-7b-v3.log; acme/secret_loss2 is another")
    assert "acme/secret_loss`" not in hidden
    assert "atlas" not in hidden
    assert "acme/secret_loss2" in hidden
    assert hidden == masks.hide("`acme/secret_loss` of atlas-7b-v3.log; acme/secret_loss2 is another")
    assert not any(char.isdigit() for char in hidden.replace("secret_loss2", ""))


def test_masks_kept_names_stay() -> None:
    masks = Masks(keep={"perf/gpu-0.io"}.__contains__)
    assert masks.hide("perf value") == "perf value"


@given(st.lists(st.from_regex(r"[a-z]{2,8}(/[a-z_]{2,10}){1,2}", fullmatch=True), max_size=40, unique=True))
def test_masks_many_names_come_back(names: list[str]) -> None:
    masks = Masks([("metric", name) for name in names])
    text = " and ".join(f"`{name}`" for name in names)
    assert masks.restore(masks.hide(text)) == text

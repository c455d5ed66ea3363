"""One step's rollout, answer by answer: success, length, tools and reward follow from the latent state.

Every logged mean, count and extreme is computed from these arrays, so the counts are integers and the identities
between metrics hold as in a real log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evals.diagnosis.world import Bools, Floats, World, sigmoid, sigmoids

MAX_TRIES = 10
"""Generation batches that dynamic sampling may draw for one step (verl ``max_num_gen_batches``)."""


@dataclass(slots=True)
class Batch:
    """Arrays of shape (prompts, group), ``prompt`` (prompts,) in tokens.

    Attributes:
        score: what the reward function returned; ``form`` the part for the format, before its weight.
        length: answer tokens, at most the cap; ``stopped`` tells whether the answer ended with an EOS token.
        calls: tool calls; ``failures`` the failed ones; ``void`` answers with an empty turn.
        tries: generation batches that were drawn; ``raw_score`` their mean, before groups were filtered.
        raw_mixed: share of groups with any difference in reward, before filtering.
    """

    correct: Bools
    score: Floats
    paid: Floats
    form: Bools
    hack: Bools
    short: Bools
    length: Floats
    stopped: Bools
    calls: Floats
    failures: Floats
    prompt: Floats
    tries: int = 1
    raw_score: float = 0.0
    raw_mixed: float = 1.0


def roll_out(world: World, rng: np.random.Generator) -> Batch:
    """Answers of one step; with dynamic sampling, batches are drawn until enough groups differ in reward."""
    wanted = world.setup.prompts
    if not world.knobs.dynamic:
        batch = _sample(world, rng, wanted)
        batch.raw_score = float(batch.score.mean())
        batch.raw_mixed = float(_mixed(batch).mean())
        return batch
    drawn: list[Batch] = []
    held = 0
    while len(drawn) < MAX_TRIES and held < wanted:
        drawn.append(_sample(world, rng, wanted))
        held += int(_mixed(drawn[-1]).sum())
    whole = _join(drawn)
    mixed = _mixed(whole)
    order = np.argsort(~mixed, kind="stable")[:wanted]
    kept = _take(whole, order)
    kept.tries = len(drawn)
    kept.raw_score = float(whole.score.mean())
    kept.raw_mixed = float(mixed.mean())
    return kept


def _mixed(batch: Batch) -> Bools:
    return np.asarray(np.ptp(batch.score, axis=1) > 1e-9)


_ARRAYS = ("correct", "score", "paid", "form", "hack", "short", "length", "stopped", "calls", "failures", "prompt")


def _join(batches: list[Batch]) -> Batch:
    joined: dict[str, Any] = {name: np.concatenate([getattr(batch, name) for batch in batches]) for name in _ARRAYS}
    return Batch(**joined)


def _take(batch: Batch, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Batch:
    taken: dict[str, Any] = {name: getattr(batch, name)[rows] for name in _ARRAYS}
    return Batch(**taken)


def _sample(world: World, rng: np.random.Generator, prompts: int) -> Batch:
    setup, knobs, policy = world.setup, world.knobs, world.policy
    shape = (prompts, setup.group)
    hard = rng.standard_normal((prompts, 1))
    draws = rng.random((10, *shape))
    spread_of_length = rng.standard_normal(shape)
    prompt = np.clip(
        np.round(setup.prompt_mean + knobs.prompt_shift + setup.prompt_sd * rng.standard_normal(prompts)), 24, None
    )
    gibberish = draws[0] < (1.0 if policy.dead else 1 - (1 - sigmoid(policy.corrupt)) * (1 - knobs.engine_damage))
    loop = draws[1] < sigmoid(policy.loop)
    short = draws[2] < sigmoid(policy.short)
    hack = draws[3] < sigmoid(policy.hack)
    form = (draws[4] < sigmoid(policy.form)) & ~gibberish
    calls, failures, void = _tools(world, rng, draws[5], draws[6])
    log_length = policy.log_length + knobs.length_demand + 0.2 * hard + setup.length_sd * spread_of_length

    able = policy.skill + policy.memory - knobs.mislead
    logit = policy.sharpness * (able - knobs.difficulty - knobs.spread * hard) + knobs.think * spread_of_length
    if setup.agentic:
        logit = logit + knobs.tool_gain * np.where(calls > 0, 1 - 2.5 * failures / np.maximum(calls, 1), -1.0)
    chance = sigmoids(logit) * np.where(short, 0.3, 1.0)
    correct = (draws[7] < chance) & ~gibberish & ~loop & ~void
    log_length = log_length + knobs.wrong_longer * ~correct
    tokens = np.exp(log_length)
    tokens = np.where(short, 2 + 14 * draws[8], tokens)
    tokens = np.where(gibberish, setup.cap * (0.45 + 1.1 * draws[8]), tokens)
    tokens = np.where(loop, 2.0 * setup.cap, tokens)
    if policy.dead:
        tokens = np.full(shape, 2.0 * setup.cap)
    cut = tokens >= setup.cap
    length = np.clip(np.round(tokens), 1, setup.cap)
    correct &= ~cut
    fooled = short & (draws[9] < knobs.short_pay)
    paid, score = _score(world, rng, correct=correct, hack=hack, fooled=fooled, form=form, tools=calls > 0)
    stopped = ~(cut | (draws[9] < knobs.no_eos))
    return Batch(correct, score, paid, form, hack, short, length, stopped, calls, failures, prompt)


def _tools(world: World, rng: np.random.Generator, uses: Floats, fates: Floats) -> tuple[Floats, Floats, Bools]:
    """Calls, failed calls and void trajectories; all zero where the run has no tools."""
    setup, policy = world.setup, world.policy
    shape = uses.shape
    more = rng.poisson(1.6, shape)
    luck = rng.random(shape)
    if not setup.agentic:
        return np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
    calls = np.where(uses < sigmoid(policy.tool), np.minimum(1 + more, setup.max_calls), 0)
    void = fates < sigmoid(policy.void)
    calls = np.where(void, setup.max_calls, calls)
    bad = np.clip(np.where(void, 0.6, world.knobs.tool_fail), 0, 1)
    expected = calls * bad
    failures = np.floor(expected) + (luck < expected - np.floor(expected))
    return calls.astype(np.float64), np.minimum(failures, calls).astype(np.float64), void


def _score(
    world: World, rng: np.random.Generator, *, correct: Bools, hack: Bools, fooled: Bools, form: Bools, tools: Bools
) -> tuple[Floats, Floats]:
    """The part for the answer, and the whole score with format, costs and scale."""
    setup, knobs = world.setup, world.knobs
    span = setup.high - setup.low
    noise = rng.standard_normal(correct.shape)
    won = np.where(correct | fooled, 1.0, 0.0)
    won = np.where(hack & (knobs.hack_pay > 0), np.maximum(won, knobs.hack_pay), won)
    paid = setup.low + span * won
    score = paid + setup.format_weight * form - knobs.tool_cost * span * tools
    if knobs.tiny:
        paid = setup.low + span * (0.5 + knobs.tiny * (0.2 * correct + noise))
        score = paid + setup.format_weight * 1.0
    if knobs.constant is not None:
        broken = rng.random((len(correct), 1)) < knobs.constant_share
        paid = np.where(broken, setup.low + span * knobs.constant, paid)
        score = np.where(broken, setup.low + span * knobs.constant, score)
    return paid, score * knobs.reward_scale

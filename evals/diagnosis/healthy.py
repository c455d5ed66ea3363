"""Runs with nothing wrong, many of which look like a failure in one metric or another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evals.diagnosis.setups import agentic, bench, draw, reset, with_critic
from evals.diagnosis.simulate import Scenario
from evals.diagnosis.world import World

Builder = Callable[[np.random.Generator], Scenario]


@dataclass(frozen=True, slots=True)
class Healthy:
    """A kind of healthy run.

    Attributes:
        what: what happens in it.
        like: failure modes that it resembles, and that a diagnosis must not report.
        holds: failure modes whose plain facts do hold here (all-correct groups on a plateau, noise of a tiny
            validation set); reporting them as facts is no false alarm.
    """

    name: str
    what: str
    build: Builder
    like: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()


HEALTHY: dict[str, Healthy] = {}


def kind(what: str, *, like: str = "", holds: str = "") -> Callable[[Builder], Builder]:
    """Registers a builder under its name."""

    def register(build: Builder) -> Builder:
        name = build.__name__
        HEALTHY[name] = Healthy(name, what, build, _modes(like), _modes(holds))
        return build

    return register


def _modes(text: str) -> tuple[str, ...]:
    return tuple(f"FM-{int(number):02d}" for number in text.split())


def _once(at: int, act: Callable[[World], None]) -> Callable[[World], None]:
    def tick(world: World) -> None:
        if world.step == at:
            act(world)

    return tick


@kind("score and validation rise steadily")
def steady_improvement(rng: np.random.Generator) -> Scenario:
    return draw(rng)


@kind("a strong model near its ceiling: most groups all right, small gradient", like="1 13 14", holds="3")
def plateau_high(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng)
    scenario.policy.skill = scenario.policy.val_skill = float(rng.uniform(2.4, 3.2))
    scenario.knobs.pace *= 0.4
    scenario.knobs.ceiling = scenario.policy.skill + 0.6
    return scenario


@kind("begins after SFT on the same format: entropy 0.08–0.2 from the first step", like="1")
def sft_low_entropy(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng)
    scenario.policy.entropy = scenario.policy.entropy0 = float(rng.uniform(0.08, 0.2))
    scenario.knobs.entropy_rate *= 0.4
    return scenario


@kind("an instruct model: entropy 0.1–0.3, long answers, slow gains", like="1")
def instruct_model(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng)
    scenario.policy.entropy = scenario.policy.entropy0 = float(rng.uniform(0.12, 0.3))
    scenario.policy.log_length += 0.15
    scenario.policy.skill = scenario.policy.val_skill = float(rng.uniform(0.2, 1.0))
    scenario.knobs.pace *= 0.6
    return scenario


@kind("harder data in planned steps: score falls at each and recovers", like="16 20 27", holds="37")
def curriculum_steps(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng)
    size = float(rng.uniform(0.5, 0.9))
    for part in (1, 2):
        at = scenario.setup.steps * part // 3

        def harder(world: World) -> None:
            world.knobs.difficulty += size
            world.knobs.prompt_shift += 25
            world.knobs.length_demand += 0.08

        scenario.ticks.append(_once(at, harder))
    return scenario


@kind("a learning rate that warms up over a third of the run", like="13")
def long_warmup(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng)
    return reset(scenario, warmup=scenario.setup.steps // 3)


@kind("16–32 answers a step: every metric jumps", like="12 14")
def noisy_small_batches(rng: np.random.Generator) -> Scenario:
    return draw(rng, prompts=int(rng.choice([4, 8])), group=4, parts=4)


@kind("the process dies and goes on from a checkpoint: steps are printed again", like="38")
def restarts_back(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, save_every=10)
    steps = scenario.setup.steps
    at = int(rng.integers(steps // 3, 2 * steps // 3))
    scenario.restarts[at] = at // 10 * 10 if at % 10 else at - 10
    return scenario


@kind("longer answers earn more: length doubles together with score", like="6 7 29")
def long_answers_growing(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, cap=8192, tight=True)
    scenario.policy.log_length = float(np.log(rng.uniform(500, 900)))
    scenario.knobs.length_bias = float(np.log(rng.uniform(1.6, 2.3))) / scenario.setup.steps
    scenario.knobs.think = 0.45
    scenario.knobs.wrong_longer = 0.0
    return scenario


@kind("several turns with tools, number of turns drifting a little", like="26 27 28")
def agentic_multi_turn(rng: np.random.Generator) -> Scenario:
    return agentic(rng)


@kind("30 problems, few samples: validation goes up and down by chance", like="35 16", holds="36")
def tiny_validation(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng)
    return bench(scenario, name="aime_2024", problems=30, samples=int(rng.choice([1, 2, 4])), difficulty=0.9, every=5)


@kind("PPO with a value function that learns", like="23 24")
def ppo_critic(rng: np.random.Generator) -> Scenario:
    return with_critic(rng)


@kind("PPO whose actor waits while the critic warms up: no update_actor at first", like="13 23")
def critic_warmup(rng: np.random.Generator) -> Scenario:
    scenario = with_critic(rng)
    scenario.knobs.warm_critic = int(rng.integers(5, 15))
    return scenario


@kind("one to five steps: nothing can be said", like="13 20")
def few_steps(rng: np.random.Generator) -> Scenario:
    return bench(draw(rng, steps=int(rng.integers(1, 6))), every=int(rng.choice([1, 5])))


@kind("250–500 steps; entropy falls by 70–85 % while validation rises", like="1")
def long_run(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, steps=int(rng.integers(250, 501)), tight=True, prompts=32, group=8)
    scenario.knobs.entropy_rate = -float(rng.uniform(1.6, 2.4)) / scenario.setup.steps
    return bench(scenario, every=50)


@kind("answers a prompt halved or doubled half-way", like="30 32 38")
def changing_batch_size(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, group=8)
    factor = int(rng.choice([4, 16]))

    def change(world: World) -> None:
        world.setup = replace(world.setup, group=factor)

    scenario.ticks.append(_once(scenario.setup.steps // 2, change))
    return scenario


@kind("steps take longer because answers do, and validation follows", like="30 31 32")
def slower_by_longer(rng: np.random.Generator) -> Scenario:
    scenario = long_answers_growing(rng)
    scenario.knobs.length_bias *= 1.3
    return scenario


@kind("validation every two to four steps, each making that step's log longer", like="36")
def frequent_validation(rng: np.random.Generator) -> Scenario:
    return bench(draw(rng), every=int(rng.integers(2, 5)))


@kind("learning rate decays to zero: metrics calm down towards the end", like="13 18")
def lr_decay(rng: np.random.Generator) -> Scenario:
    return reset(draw(rng), decay=str(rng.choice(["linear", "cosine"])), warmup=5)


@kind("KL charged in the reward: rewards differ from scores by a little", like="18")
def kl_in_reward(rng: np.random.Generator) -> Scenario:
    return draw(rng, kl="reward", kl_coef=0.001)


@kind("no KL at all, nothing about the reference is logged", like="19")
def no_kl(rng: np.random.Generator) -> Scenario:
    return draw(rng, kl="none")


@kind("resumes without optimiser state: gradient norm high for some steps", like="38 12 40")
def resume_new_optimiser(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng)
    at = int(rng.integers(scenario.setup.steps // 3, 2 * scenario.setup.steps // 3))
    scenario.restarts[at] = at

    def fresh(world: World) -> None:
        world.grad_noise = 1.2

    scenario.resumed.append(fresh)
    return scenario


@kind("one update a step: ppo_kl and clip fraction are exactly 0 while all else moves", like="13")
def strictly_on_policy(rng: np.random.Generator) -> Scenario:
    return draw(rng, minibatches=1)


@kind("clip-higher: entropy rises by half while score rises", like="2")
def exploring(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, tight=True)
    scenario.knobs.entropy_rate = float(rng.uniform(0.3, 0.55)) / scenario.setup.steps
    return scenario


@kind("hard tasks: low score that varies, some groups with signal, slow gains", like="20 14", holds="3")
def hard_task(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, group=16, prompts=32)
    scenario.policy.skill = scenario.policy.val_skill = float(rng.uniform(-2.6, -2.0))
    scenario.knobs.ceiling = scenario.policy.skill + 2
    return scenario


@kind("single gradient spikes, clipped, without consequence", like="9 12 15")
def gradient_spikes(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng)
    scenario.knobs.spike_rate = 0.07
    return scenario


@kind("mixture of experts: mismatch and clip fraction high and steady", like="9 11")
def moe_steady(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, moe=True, mismatch_logged=True, params=30.0)
    scenario.policy.mismatch = float(rng.uniform(1.2e-3, 2.4e-3))
    scenario.knobs.clip_scale = 2.5
    scenario.knobs.routing = 0.02
    return scenario


@kind("sequence-level ratios (GSPO): clip fraction 0.1–0.3 from the start", like="12")
def sequence_ratio(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, minibatches=4)
    scenario.knobs.clip_scale = float(rng.uniform(60, 100))
    return scenario


@kind("asynchronous, at most one version behind, steady", like="25")
def async_fresh(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, asynchronous=True, mismatch_logged=True)
    scenario.knobs.staleness = float(rng.uniform(0.3, 0.6))
    return scenario


@kind("padding and verbosity disappear: answers shorter, validation up", like="8")
def verbosity_trimmed(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, tight=True)
    scenario.knobs.length_bias = float(np.log(rng.uniform(0.5, 0.65))) / scenario.setup.steps
    return scenario


@kind("a graded reward that saturates slowly", like="17 14")
def graded_format(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng, format_weight=float(rng.choice([0.3, 0.5])))
    scenario.policy.form = float(rng.uniform(-1.0, 0.5))
    return scenario


@kind("shared cluster: timings scatter, no trend", like="30 31 32 33")
def busy_cluster(rng: np.random.Generator) -> Scenario:
    scenario = draw(rng)

    def slow(world: World) -> None:
        luck = np.random.default_rng((world.seed, 9, world.step))
        world.knobs.slow = float(np.exp(0.12 * luck.standard_normal()))
        world.knobs.update_slow = float(np.exp(0.08 * luck.standard_normal()))

    scenario.ticks.append(slow)
    return scenario

"""What a simulated run is made of: the operator's settings, the policy's latent state, and the knobs causes turn.

Abilities and difficulties are in logits, entropies and divergences in nats a token, lengths in tokens, times in
seconds, memory in GiB. Levels are those of public verl, TRL and ROLL logs (verl-data's GSM8K run: entropy 0.45 → 0.06,
clip fraction 0.002–0.004; ReTool's AIME run: entropy 0.16–0.19, ``ppo_kl`` 1e-5, gradient norm 0.10–0.15).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Number = int | float
Record = dict[str, Number]
"""Values of one step under verl's keys; keys that begin with ``sim/`` are no framework's and are not printed so."""


def sigmoid(value: float) -> float:
    """Probability of a logit."""
    return float(1.0 / (1.0 + np.exp(-value)))


def sigmoids(values: Floats) -> Floats:
    """Probabilities of logits."""
    return np.asarray(1.0 / (1.0 + np.exp(-values)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A validation set: how many problems, how many answers a problem, and every how many steps (0: never)."""

    name: str = "math500"
    problems: int = 500
    samples: int = 1
    every: int = 10
    difficulty: float = 0.3
    spread: float = 1.8


@dataclass(frozen=True, slots=True)
class Setup:
    """What the operator fixed.

    Attributes:
        steps: training steps.
        prompts: prompts a step; each gets ``group`` answers.
        cap: longest answer, tokens.
        parts: data-parallel parts that share a batch (``global_seqlen``).
        dataset: prompts in the training set; an epoch is ``dataset / prompts`` steps.
        algorithm: GRPO (group advantages over their deviation), Dr.GRPO (not divided) or PPO with a critic.
        kl: where the divergence from the reference is charged.
        minibatches: updates a step; 1 is strictly on-policy (clip fraction and ``ppo_kl`` exactly 0).
        format_weight: reward for the right format on top of the reward for the answer.
        lr: peak learning rate; ``warmup`` steps up to it, then ``decay``.
        params: billions of weights, for arithmetic and times.
        mismatch_logged: whether probabilities of trainer and inference engine are compared.
        debug_memory: whether ROLL prints its memory snapshots.
        save_every: steps between checkpoints (0: none).
    """

    steps: int = 80
    prompts: int = 64
    group: int = 8
    cap: int = 4096
    prompt_mean: float = 180.0
    prompt_sd: float = 45.0
    length_sd: float = 0.45
    gpus: int = 8
    parts: int = 8
    dataset: int = 7500
    algorithm: Literal["grpo", "drgrpo", "ppo"] = "grpo"
    kl: Literal["none", "loss", "reward"] = "loss"
    kl_coef: float = 0.001
    minibatches: int = 4
    low: float = 0.0
    high: float = 1.0
    format_weight: float = 0.0
    agentic: bool = False
    max_calls: int = 7
    moe: bool = False
    asynchronous: bool = False
    mismatch_logged: bool = False
    debug_memory: bool = False
    lr: float = 1e-6
    warmup: int = 0
    decay: Literal["constant", "linear", "cosine"] = "constant"
    params: float = 7.0
    hbm: float = 80.0
    save_every: int = 0
    validation: Benchmark = field(default_factory=Benchmark)

    @property
    def size(self) -> int:
        """Trajectories a step."""
        return self.prompts * self.group


@dataclass(slots=True)
class Knobs:
    """What nature and the code decide; causes of failures turn these, never a metric.

    Rates are a step. ``pace`` is ability gained at full signal; ``entropy_rate`` the relative change of entropy at
    full signal; ``*_growth`` what is added to a logit.
    """

    # learning
    pace: float = 0.02
    ceiling: float = 3.0
    transfer: float = 0.85
    learn: float = 1.0
    lr_factor: float = 1.0
    steps_factor: float = 1.0
    entropy_rate: float = -0.004
    entropy_floor: float = 0.02
    kl_drift: float = 3e-4
    kl_growth: float = 0.0
    kl_coef_factor: float = 1.0
    forget: float = 0.0
    forget_val: float = 0.0
    memorise: float = 0.0
    frozen: bool = False
    warm_critic: int = 0
    # data and answers
    difficulty: float = 0.0
    spread: float = 1.5
    prompt_shift: float = 0.0
    length_demand: float = 0.0
    think: float = 0.1
    wrong_longer: float = 0.12
    length_bias: float = 0.0
    no_eos: float = 0.0
    dynamic: bool = False
    mislead: float = 0.0
    # reward
    reward_scale: float = 1.0
    constant: float | None = None
    constant_share: float = 1.0
    tiny: float = 0.0
    hack_pay: float = 0.0
    short_pay: float = 0.0
    tool_cost: float = 0.0
    select: float = 0.15
    positive: float = 1.0
    # numbers
    mismatch_growth: float = 0.0
    engine_damage: float = 0.0
    routing: float = 0.0
    staleness: float = 0.0
    nan_rate: float = 0.0
    loss_scale: float = 1.0
    clip_scale: float = 1.0
    grad_scale: float = 1.0
    spike_rate: float = 0.01
    loop_growth: float = 0.0
    void_growth: float = 0.0
    # critic
    critic_rate: float = 0.12
    critic_drift: float = 0.0
    critic_noise: float = 0.0
    value_clip: float = 0.5
    # tools and machines
    tool_gain: float = 1.0
    tool_fail: float = 0.03
    tool_latency: float = 0.4
    slow: float = 1.0
    tail: float = 0.0
    queue: float = 0.0
    update_slow: float = 1.0
    forward_slow: float = 1.0
    imbalance: float = 0.0
    leak: float = 0.0
    reward_time: float = 0.002


@dataclass(slots=True)
class Policy:
    """The latent state that training moves.

    Attributes:
        skill: ability on the training distribution; ``val_skill`` on validation problems.
        memory: ability on training prompts seen before, which helps nowhere else.
        entropy: nats a token; ``entropy0`` at the start.
        log_length: mean of the logarithm of an answer's length.
        form, hack, tool, short, loop, void, corrupt: logits of answers in the right format, that fool the verifier,
            use tools, are cut short, repeat themselves to the cap, hold a turn without a call or an answer, and are
            gibberish.
        kl: divergence from the reference, nats a token.
        mismatch: k3 divergence between trainer and inference engine, nats a token.
        critic_fit: share of the predictable part of returns that the critic explains.
        critic_bias: how far values lie above returns.
        value_level: what the critic takes for the mean return.
        dead: whether weights hold NaN.
    """

    skill: float = 0.0
    val_skill: float = 0.0
    memory: float = 0.0
    entropy: float = 0.4
    entropy0: float = 0.4
    log_length: float = 6.3
    form: float = 3.0
    hack: float = -12.0
    tool: float = 2.0
    short: float = -12.0
    loop: float = -8.0
    void: float = -7.0
    corrupt: float = -9.0
    kl: float = 0.0
    mismatch: float = 6e-4
    critic_fit: float = 0.0
    critic_bias: float = 0.0
    value_level: float | None = None
    dead: bool = False

    @property
    def sharpness(self) -> float:
        """How far success is polarised: low entropy makes answers to one prompt alike."""
        return float(np.clip((self.entropy0 / max(self.entropy, 1e-4)) ** 0.3, 0.6, 3.0))


@dataclass(slots=True)
class Machine:
    """Peaks since the process began and what accumulates in it."""

    allocated: float = 0.0
    reserved: float = 0.0
    host: float = 0.0
    leaked: float = 0.0
    tokens: int = 0
    age: int = 0


@dataclass(slots=True)
class World:
    """Everything at one moment; ``tick`` hooks change it before each step.

    Attributes:
        seed: of the run; choices of a cause come from it.
        step: the step about to be simulated (1-based, as verl counts).
        lr_origin: step at which the learning-rate schedule began.
        grad_noise: steps for which a fresh optimiser still inflates the gradient.
    """

    setup: Setup
    knobs: Knobs
    policy: Policy
    machine: Machine
    seed: int
    step: int = 0
    lr_origin: int = 0
    grad_noise: float = 0.0
    grad_level: float = 0.3
    clip_level: float = 0.002
    tokens_per_second: float = 45.0
    skill0: float = 0.0

    @property
    def rate(self) -> float:
        """The schedule's learning rate relative to its peak, times what a cause made of it."""
        at = self.step - self.lr_origin
        setup = self.setup
        up = min(1.0, at / setup.warmup) if setup.warmup else 1.0
        rest = min(1.0, max(0, at - setup.warmup) / max(1, setup.steps - setup.warmup))
        down = {"constant": 1.0, "linear": 1.0 - rest, "cosine": 0.5 * (1 + float(np.cos(np.pi * rest)))}[setup.decay]
        return up * down * self.knobs.lr_factor

    @property
    def epoch(self) -> float:
        """Epochs over the training set so far."""
        return (self.step - 1) * self.setup.prompts / self.setup.dataset

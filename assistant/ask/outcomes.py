"""By which metric a run tells whether it learns, whatever its trainer calls it: validation, reward, loss.

The roles of known frameworks come first. Where they find nothing, names decide: ``Total rewards mean``, ``Mean Reward``
and ``Reward moyen`` are the reward, ``Train loss`` the loss, ``validation loss`` the held-out loss. A name only tells
how a metric goes; no rule of diagnosis rests on it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final
from weakref import ref

from assistant.analysis.diagnosis import role
from assistant.analysis.diagnosis.roles import RoleSeries, Spelling
from assistant.analysis.series import series
from assistant.ask.concepts import concepts, keys_of, spelt_out
from assistant.ask.context import Context
from assistant.ask.query import Query
from assistant.model import Run
from assistant.model.answer import Op

#: Names of a quantity that tell the same as a role.
_BY_NAME: Final = {
    "held_out_accuracy": "held_out_accuracy",
    "held_out_loss": "held_out_loss",
    "reward": "plain_reward",
    "loss": "training_loss",
}
#: Which way is better of a key that no card tells of. A plain ``loss`` may be a policy's and is none of them.
_BETTER: Final = {
    "held_out_loss": "lower_better",
    "held_out_accuracy": "higher_better",
    "reward": "higher_better",
    "accuracy": "higher_better",
}
#: Words of a name, where no word of a concept tells; errors before scores ("accuracy error").
_SMALLER: Final = re.compile(r"(?i)\b(?:nll|mse|rmse|mae|mape|ppl|perplexity|bpb|bpc|bpd|wer|cer|fid|error|err)\b")
_LARGER: Final = re.compile(r"(?i)\b(?:psnr|ssim|f1|auc|auroc|bleu|rouge|map|iou|miou|dice|ndcg|recall|precision)\b")
#: What asks for the best or the worst, and what asks for one end of the values instead.
_BEST: Final = re.compile(r"(?i)\bbest\b|\bworst\b|最(?:好|佳|优|差|糟)")
_WORST: Final = re.compile(r"(?i)\bworst\b|最(?:差|糟)")
_ENDS: Final = re.compile(r"(?i)\b(?:high|low|larg|small)\w*|\bm(?:ax|in)\w*|最(?:大|小|高|低)")
_REWARDS: Final = ("score_mean", "reward_mean", "plain_reward")
#: Frameworks of environments: a step's rewards come from episodes, not from prompts.
_EPISODES: Final = frozenset(
    {
        "Stable-Baselines3",
        "Stable-Baselines",
        "RLlib",
        "ML-Agents",
        "Spinning Up",
        "DreamerV3",
        "rsl_rl",
        "rl_games",
        "Tianshou",
    }
)
#: What a log prints of episodes, whoever wrote it.
_OF_EPISODES: Final = (
    "episod",
    "ep_rew",
    "epret",
    "eplen",
    "ep_len",
    "timesteps",
    "epsilon",
    "exploration",
    "env_step",
)


def validated(run: Run) -> RoleSeries | None:
    """The series of evaluations: an accuracy or score before a held-out loss."""
    for name in ("val_accuracy", "held_out_loss"):
        if (found := role(run, name)) is not None:
            return found
    return _named(run, "held_out_accuracy") or _named(run, "held_out_loss")


def rewarded(run: Run) -> RoleSeries | None:
    """The series of training rewards."""
    for name in _REWARDS:
        if (found := role(run, name)) is not None:
            return found
    if role(run, "training_loss") is not None:
        return None  # supervised or by preferences: what is called a reward there is another thing
    return _named(run, "reward")


def trained(run: Run) -> RoleSeries | None:
    """The series that tells of training: the reward, or else the loss."""
    return rewarded(run) or lost(run)


def lost(run: Run) -> RoleSeries | None:
    """The loss of a run that holds no reward, where a lower one is better."""
    return role(run, "training_loss") or (_named(run, "loss") if rewarded(run) is None else None)


def is_loss(found: RoleSeries) -> bool:
    """Whether a series is the better the lower it is."""
    return found.role.endswith("_loss")


def direction(context: Context, metric: str) -> str:
    """Whether larger or smaller is better: by the card, else by the name of a key that no card is about."""
    card = context.card(metric)
    if card is not None and card.direction != "context":
        return card.direction
    own = lost(context.run) if context.runs and rewarded(context.run) is None else None
    if own is not None and own.metrics == (metric,):
        return "lower_better"
    if card is not None:
        return card.direction
    name = spelt_out(metric)
    for concept, way in _BETTER.items():
        held = concepts()[concept]
        if (held.never is None or not held.never.search(name)) and any(key.search(name) for key in held.keys):
            return way
    return "lower_better" if _SMALLER.search(name) else "higher_better" if _LARGER.search(name) else "context"


def of_the_best(context: Context, query: Query, metric: str) -> Query:
    """The query, its operation that of the metric's own best or worst where just that is asked for."""
    if query.op is None or not _BEST.search(query.said) or _ENDS.search(query.said):
        return query
    way = direction(context, metric)
    if way not in {"lower_better", "higher_better"}:
        return query
    low = (way == "lower_better") != (_WORST.search(query.said) is not None)
    ops: dict[bool, tuple[Op, Op]] = {True: ("argmin", "min"), False: ("argmax", "max")}
    return replace(query, op=ops[low][0 if query.op.startswith("arg") else 1])


def trend_hint(context: Context) -> str:
    """That one step's movement says little, by what makes steps differ in such a run."""
    if of_prompts(context.run):
        return context.say("explain.next_trend")
    return context.say("explain.next_trend_episodes" if of_episodes(context.run) else "explain.next_trend_batches")


def of_episodes(run: Run) -> bool:
    """Whether a run's steps are of environments' episodes rather than of prompts or texts."""
    if run.framework in _EPISODES or run.step_axis == "episode":
        return True
    return run.framework is None and any(word in key.lower() for key in run.metrics for word in _OF_EPISODES)


def of_prompts(run: Run) -> bool:
    """Whether a run samples answers to prompts, so that its steps differ by their prompts."""
    names = ("response_length_mean", "zero_std_share", "truncated_share", "ref_kl")
    return run.framework == "verl" or any(role(run, name) is not None for name in names)


def _named(run: Run, name: str) -> RoleSeries | None:
    """The series that names tell to hold a quantity."""
    keys = keys_of(concepts()[name], run)
    if not keys:
        return None
    read = series(run, keys[0])
    spelling = Spelling("key", (keys[0],))
    return RoleSeries(_BY_NAME[name], ref(run), spelling, read.steps, read.values) if len(read.steps) else None

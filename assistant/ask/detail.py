"""Every metric of a step, grouped, with its meaning, value, and a remark (逐条)."""

from __future__ import annotations

import math
import re

from assistant.analysis import derive_all, time_shares
from assistant.ask.context import Context, is_validation, key
from assistant.model import Fact

_GROUPS = (
    ("batch", ("global_seqlen/",)),
    ("value", ("critic/values/", "critic/vf_", "critic/vpred", "critic/lr", "critic/grad_norm")),
    ("policy", ("actor/", "rollout_corr/", "variance_proxy/", "policy", "kl", "mean_ratio", "mean_log_prob")),
    ("reward", ("critic/", "reward", "mean_reward", "std_reward", "mean_advantage")),
    (
        "length",
        ("response_length", "response/", "prompt_length/", "num_turns/", "tool_call", "token/", "tokens/"),
    ),
    ("timing", ("timing_s/", "timing_per_token_ms/", "time/")),
    ("perf", ("perf/", "system/", "memory/")),
    ("progress", ("training/", "train/")),
)
_ORDER = ("batch", "policy", "reward", "value", "length", "timing", "perf", "progress", "other", "validation")


def group_of(metric: str) -> str:
    """Name of the group in which a metric is listed."""
    if is_validation(metric):
        return "validation"
    if metric.startswith("perf/mfu") or not metric.startswith("perf/"):
        for name, prefixes in _GROUPS:
            if metric.startswith(prefixes):
                return name
    return "perf" if metric.startswith("perf/") else "other"


def every_metric(context: Context, step: int, *, validation: bool = True) -> None:
    """Writes one table a group with every metric of a step."""
    doc, say = context.doc, context.say
    cells = context.run.at(step)
    groups: dict[str, list[str]] = {}
    for metric in cells:
        groups.setdefault(group_of(metric), []).append(metric)
    remarks = _Remarks(context, step)
    header = [say("head.metric"), say("head.value"), say("head.meaning"), say("head.remark")]
    for name in _ORDER:
        if name not in groups or (name == "validation" and not validation):
            continue
        doc.heading(f"group.{name}")
        rows = []
        for metric in groups[name]:
            fact = context.value(metric, step)
            assert fact is not None
            rows.append([key(metric), doc.show(fact), _meaning(context, metric), remarks.of(metric, fact)])
        doc.table(header, rows)
    doc.paragraph(say("remark.legend"))


_VARIANTS = {
    "mean": {"zh": "均值", "en": "mean"},
    "max": {"zh": "最大", "en": "maximum"},
    "min": {"zh": "最小", "en": "minimum"},
    "minmax_diff": {"zh": "最大与最小之差", "en": "maximum less minimum"},
}


#: Where a card's line goes on to name the variants that it covers ("…: mean, max, min"), which a table need not.
_NAMED_VARIANTS = re.compile(
    r"[（(][^（）()]*(?:最大|最小|max|min)[^（）()]*[）)]|[：:，,][^：:]*(?:最大|最小|\bmaxi?m?u?m?\b|\bmini?m?u?m?\b).*$"
)


def _meaning(context: Context, metric: str) -> str:
    card = context.card(metric)
    if card is None:
        return context.say("remark.no_card")
    short, variant = card.short(context.language), metric.rsplit("/", 1)[-1]
    stem = _NAMED_VARIANTS.split(short)[0].strip()
    text = context.doc.quote(card.id, card.title(context.language), card.source, stem or short)
    if variant in _VARIANTS and len(card.keys) > 1 and not is_validation(metric):
        word = _VARIANTS[variant][context.language]
        text += f"（{word}）" if context.language == "zh" else f" ({word})"
    return text


class _Remarks:
    """Short remarks on single cells, from what the same step holds."""

    def __init__(self, context: Context, step: int) -> None:
        self.context = context
        self.step = step
        self.derived = derive_all(context.ledger, step)
        self.shares = {str(s.name): s for s in time_shares(context.ledger, step)[0]}
        self.flagged = {metric for finding in context.findings for metric in finding.metrics}

    def of(self, metric: str, fact: Fact) -> str:
        say, value = self.context.say, fact.value
        if not isinstance(value, (int, float)):
            return ""
        if not math.isfinite(value):
            return say("remark.not_finite")
        if metric in self.flagged:
            return say("remark.flagged")
        if self._outside(metric, float(value)):
            return say("remark.out_of_range")
        return self._special(metric, fact) or say("remark.in_range")

    def _outside(self, metric: str, value: float) -> bool:
        card = self.context.card(metric)
        bounds = card.bounds if card else None
        if not bounds or is_validation(metric):
            return False
        low, high = bounds
        return (low is not None and value < low - 1e-9) or (high is not None and value > high + 1e-9)

    def _special(self, metric: str, fact: Fact) -> str:
        say, derived, run = self.context.say, self.derived, self.context.run
        if (
            metric.startswith("critic/rewards/")
            and "kl_in_reward" in derived
            and derived["kl_in_reward"].value is False
        ):
            return say("remark.same_as", other=key(metric.replace("rewards", "score")))
        if metric.startswith("critic/returns/") and "group_relative" in derived and derived["group_relative"].value:
            return say("remark.same_as", other=key(metric.replace("returns", "advantages")))
        if metric == "critic/score/mean":
            return say("remark.not_accuracy")
        if metric == "critic/advantages/mean" and "group_size" in derived:
            return say("remark.near_zero_expected")
        if metric in {"critic/advantages/max", "critic/advantages/min"} and "group_size" in derived:
            group = derived["group_size"]
            if isinstance(group.value, int) and isinstance(fact.value, (int, float)):
                bound = (group.value - 1) / math.sqrt(group.value)
                if abs(abs(fact.value) - bound) < 1e-3 * bound:
                    return say("remark.group_bound" if fact.value > 0 else "remark.group_bound_low", group=group)
        simple = {
            "actor/ppo_kl": "remark.kl_old", "actor/pg_loss": "remark.sign_only",
            "global_seqlen/min": "remark.before_balance", "global_seqlen/max": "remark.before_balance",
            "global_seqlen/minmax_diff": "remark.before_balance",
            "global_seqlen/balanced_min": "remark.after_balance", "global_seqlen/balanced_max": "remark.after_balance",
            "timing_s/start_profile": "remark.outside_step", "timing_s/stop_profile": "remark.outside_step",
        }  # fmt: skip
        if metric in simple:
            return say(simple[metric])
        if metric.endswith("clip_ratio") and metric.startswith("response_length") and "clipped_trajectories" in derived:
            return say(
                "remark.clip_count",
                count=derived["clipped_trajectories"],
                batch=derived["trajectories_per_step"],
            )
        if metric in {"response_length/max", "response_length_non_aborted/max"}:
            ratio = run.value("response_length/clip_ratio", self.step)
            return say("remark.at_limit") if ratio else ""
        if metric == "perf/throughput" and "cluster_throughput" in derived:
            return say("remark.per_gpu", cluster=derived["cluster_throughput"])
        if metric.startswith("perf/max_memory"):
            return say("remark.peak")
        if metric.endswith(("slowest/prompt_length", "slowest/response_length")):
            return say("remark.unit_tokens")
        if metric.startswith(("timing_s/agent_loop/", "timing_s/generate_sequences", "timing_s/reshard")):
            return say("remark.inside_gen")
        if metric in self.shares:
            share = self.shares[metric]
            small = isinstance(share.value, float) and share.value < 1e-4
            return say("remark.share_small") if small else say("remark.share", share=share)
        if fact.value == 0:
            return say("remark.zero")
        return ""

"""The questions under test: what was asked, about which part of the log, in which language."""

from dataclasses import dataclass

_CHANGES = {"improved", "regressed", "mixed", "unchanged", "inconclusive", "not_comparable"}
_TRENDS = {"rising", "falling", "flat", "fluctuating", "inconclusive"}
_HEALTH = {"healthy", "warning", "critical", "insufficient_data"}
_ANSWERS = {"answered", "no_data", "unknown_metric"}

VERDICTS = {
    "compare": _CHANGES,
    "trend": _TRENDS,
    "forecast": _TRENDS,
    "health": _HEALTH,
    "explain": _HEALTH,
    "advice": _HEALTH,
    "define": _ANSWERS,
    "lookup": _ANSWERS,
    "bottleneck": _ANSWERS,
    "validation": _ANSWERS,
    "derive": _ANSWERS,
    "out_of_scope": {"out_of_scope", "no_metrics"},
}


@dataclass(frozen=True)
class Question:
    """``log`` names a log of the ``logs`` fixture; ``intents`` are those a fair reader may understand."""

    text: str
    language: str
    intents: tuple[str, ...]
    log: str = "example"


QUESTIONS = {
    "validation-alone": Question("解读这个测试结果", "zh", ("validation", "explain"), "step-0"),
    "validation-in-log": Question("解读 step 0 的测试结果", "zh", ("validation", "explain")),
    "explain-step-1": Question("如何解读 step 1，逐条", "zh", ("explain",)),
    "explain-step-1-alone": Question("如何解读 step 1，逐条", "zh", ("explain",), "step-1"),
    "improved-zh": Question("跟 step 0 相比，模型有改进吗", "zh", ("compare",)),
    "improved-zh-then": Question("跟 step 0 相比，模型有改进吗", "zh", ("compare",), "steps-0-1"),
    "improved-en": Question("did step 2 improve on step 0?", "en", ("compare",)),
    "ppo-kl": Question("ppo_kl 怎么理解", "zh", ("define",)),
    "ppo-kl-then": Question("ppo_kl 怎么理解", "zh", ("define",), "steps-0-1"),
    "step-2": Question("Analyze deeply about step 2", "en", ("explain", "health")),
    "step-3": Question("What about step 3?", "en", ("explain", "health")),
    "gpus": Question("用了多少张卡", "zh", ("derive",)),
    "batch": Question("batch 多大", "zh", ("derive",)),
    "advantage": Question("为什么 advantage 最大是 3.75", "zh", ("derive", "explain", "define")),
    "three-in-one": Question("用了多少张卡, batch 多大, 为什么 advantage 最大是 3.75", "zh", ("derive",)),
}

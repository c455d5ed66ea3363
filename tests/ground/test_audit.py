"""The audit of any text about a log: true sentences pass, false ones are caught, what is no claim is left alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.ground.audit import Audit, Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text
from tests.timing import assert_quick

ROOT = Path(__file__).resolve().parents[2]
RESOLVER = Resolver(library())
RUN: Run = parse_text(
    (ROOT / "examples" / "verl-retool-steps-0-3.log").read_text(encoding="utf-8"), name="example"
).runs[0]
AUDITOR = Auditor([RUN], RESOLVER)


def statuses(text: str) -> list[str]:
    return [sentence.status for sentence in AUDITOR.audit(text).sentences]


def only(text: str) -> str:
    found = statuses(text)
    assert len(found) == 1, found
    return found[0]


TRUE = [
    "At step 2 the mean reward was 0.150, up from 0.047 at step 1 (+219%).",
    "critic/rewards/mean rose from 0.047 to 0.150 at step 2, a 3.2× increase.",
    "step 1 的 reward 是 4.7%，step 2 为 15%。",
    "step 1 的 reward 是 4.69e-2。",
    "step 1 的奖励约为 0.05。",
    "The average response has 2.5k tokens at step 1.",
    "Step 1 took 72 min.",
    "step 1 用时约 72 分钟。",
    "Generation takes 49% of step 1.",
    "At step 1 generation (2,143 s) is slower than the actor update (1,708 s).",
    "The grad norm was 0.152, 0.147 and 0.124 at steps 1, 2 and 3.",
    "从 step 1 到 step 3，梯度范数由 0.152 下降到 0.124（-18%）。",
    "minmax_diff fell by 63% from step 1 to step 2 and then rose by 93%.",
    "The run uses 8 GPUs.",
    "每步 8192 条轨迹，512 个 prompt，每个 prompt 16 条。",
    "单卡吞吐 677 tokens/s，8 卡合计 5419 tokens/s（step 1）。",
    "Validation at step 0: mean@30 accuracy 23.0%, best@30 60.3%, maj@30 32.7%.",
    "pg_loss turned negative at step 3 (-0.000506).",
    "The advantages range from -3.75 to 3.75 at step 1.",
    "The mean reward over the three training steps is 0.108.",
    "Reward is highest at step 2.",
    "Entropy never drops below 0.15.",
    "日志一共 4 步，其中训练步 3 个。",
    "The three steps took 3.7 hours in total.",
    "step 1 的生成耗时是 actor 更新的 1.25 倍。",
]
FALSE = {
    "value": "At step 2 the mean reward was 0.160.",
    "last digit": "At step 2 the mean reward was 0.151.",
    "precision": "At step 2 the mean reward was 0.15042.",
    "step": "At step 3 the mean reward was 0.150.",
    "metric": "At step 2 the entropy was 0.150.",
    "sign": "pg_loss 在 step 3 为 0.000506。",
    "unit": "step 1 用时 4334 ms。",
    "percent": "step 2 的 entropy 为 0.156%。",
    "direction": "From step 1 to step 2 the reward fell.",
    "direction of a number": "从 step 1 到 step 2，奖励下降了 0.103。",
    "swapped": "The reward rose from 0.150 at step 1 to 0.047 at step 2.",
    "swapped metrics": "At step 1 entropy and grad norm are 0.152 and 0.156.",
    "missing cell": "step 0 的 reward 为 0.047。",
    "missing step": "Step 5 的 reward 为 0.2。",
    "missing metric": "actor/kl_loss at step 2 is 0.3.",
    "derived": "The run uses 16 GPUs.",
    "batch": "The batch has 1024 samples.",
    "per GPU": "Throughput is 677 tokens/s across workers at step 1.",
    "peak": "The reward peaks at 0.127.",
    "peak step": "Reward is highest at step 3.",
    "count": "The log holds 7 steps.",
    "share": "Generation takes 59% of step 1.",
    "comparison": "At step 1 the actor update takes longer than generation.",
    "ratio": "Reward at step 2 is 4.2 times that of step 1.",
    "bound": "Entropy never drops below 0.155.",
    "mean": "The mean reward over steps 1 to 3 is 0.158.",
    "absence": "step 2 没有 actor/entropy 的记录。",
    "presence": "Entropy is logged at step 0.",
    "unknown subject": "At step 2, effective rank = 727.5.",
}
NO_CLAIM = [
    "If KL exceeds 0.05, reduce lr to 1e-6.",
    "You could raise the learning rate to 5e-6.",
    "建议把学习率提高到 5e-6。",
    "Is the entropy 0.3 at step 2?",
    "The clip range is usually 0.2.",
    "一般来说 KL 在 0.01 以下就算安全。",
    "如果熵降到 0.01，就说明坍缩了。",
    "See arXiv:2402.03300, version 2.1.0, of 2025-10-02.",
    "In GRPO the advantage is the reward minus the group mean.",
    "InstructGPT used a KL coefficient of 0.02.",
    "```python\nlr = 5e-6\nreward = 0.9\n```",
]


@pytest.mark.parametrize("text", TRUE)
def test_audit_true_sentence_is_supported(text: str) -> None:
    assert set(statuses(text)) == {"supported"}


@pytest.mark.parametrize("kind", FALSE)
def test_audit_false_sentence_is_caught(kind: str) -> None:
    assert set(statuses(FALSE[kind])) & {"contradicted", "unsupported"}


@pytest.mark.parametrize("text", NO_CLAIM)
def test_audit_no_claim_is_left_alone(text: str) -> None:
    assert set(statuses(text)) == {"no_claim"}


def test_audit_reason_says_the_true_value_and_its_line() -> None:
    sentence = AUDITOR.audit("At step 2 the mean reward was 0.160.").sentences[0]
    (claim,) = sentence.claims
    assert claim.status == "contradicted"
    assert "0.1504" in claim.reason
    assert "(line 3)" in claim.reason
    assert sentence.text[claim.start - sentence.start : claim.end - sentence.start] == "0.160"


def test_audit_reason_is_in_the_texts_language_or_the_one_asked_for() -> None:
    assert "不是" in AUDITOR.audit("step 2 的奖励是 0.16。").sentences[0].claims[0].reason
    english = Auditor([RUN], RESOLVER, language="en").audit("step 2 的奖励是 0.16。")
    assert "not 0.16" in english.sentences[0].claims[0].reason


def test_audit_json_names_the_fact_that_decides() -> None:
    document = AUDITOR.audit("At step 2 the mean reward was 0.160. It was 0.047 at step 1.").to_json()
    assert document["summary"] == {"supported": 1, "contradicted": 1, "unsupported": 0, "no_claim": 0}
    facts = {fact["id"]: fact for fact in document["facts"]}
    deciding = [facts[claim["fact"]] for sentence in document["sentences"] for claim in sentence["claims"]]
    assert [(fact["metric"], fact["step"]) for fact in deciding] == [
        ("critic/rewards/mean", 2),
        ("critic/rewards/mean", 1),
    ]


def test_audit_judgement_without_significant_course_is_unsupported() -> None:
    assert only("The model is improving.") == "unsupported"


@pytest.mark.parametrize(
    "text",
    [
        "## Step 2\n\n- Reward: 0.150\n- Entropy: 0.156",
        "**Step 1 → Step 2**\n- reward: 0.047 → 0.150 (+219%)",
        "| metric | step 1 | step 2 | change |\n|---|---|---|---|\n| reward | 0.047 | 0.150 | +219% |",
        "| step | reward | entropy |\n|---|---|---|\n| 1 | 0.047 | 0.156 |\n| 3 | 0.127 | 0.151 |",
        "| phase | seconds (step 2) |\n|---|---|\n| timing_s/gen | 2180.9 |",
        "step  critic/rewards/mean\n1     0.047\n2     0.150",
        "```\nStep 1\n  reward: 0.047\n  entropy: 0.156\nStep 2\n  reward: 0.150\n```",
        "```\n                Step 1    Step 2\nrewards/mean    0.047     0.150\n```",
        "step,actor/entropy,actor/grad_norm\n1,0.156,0.152\n3,0.151,0.124",
    ],
)
def test_audit_context_of_headings_lists_and_tables_carries_over(text: str) -> None:
    found = set(statuses(text))
    assert "supported" in found
    assert found <= {"supported", "no_claim"}
    number = re.search(r"0\.1[0-9]+|2180\.9|0\.047", text)
    assert number is not None
    false = text[: number.start()] + "0.777" + text[number.end() :]
    assert set(statuses(false)) & {"contradicted", "unsupported"}


def test_sentence_takes_steps_and_metrics_from_the_text_before() -> None:
    before = "At step 3 the entropy was 0.151."
    assert AUDITOR.sentence("The gradient norm was 0.124.", before).status == "supported"
    assert AUDITOR.sentence("The gradient norm was 0.152.", before).status == "contradicted"
    assert AUDITOR.sentence("It was 0.156 at step 1.", before).status == "supported"
    assert AUDITOR.sentence("It was 0.147 at step 2.", before).status == "contradicted"


def test_audit_quoted_definition_is_no_claim() -> None:
    quote = "Its log-ratio is clamped to [-20, 20] before the mean."
    assert Auditor([RUN], RESOLVER, quotes={"K1": f"A card. {quote} More."}).audit(quote).summary["no_claim"] == 1


def test_audit_two_runs_judges_each_number_against_its_run() -> None:
    other = parse_text("step:1 - critic/rewards/mean:0.5\nstep:2 - critic/rewards/mean:0.6", name="exp-031").runs[0]
    auditor = Auditor([RUN.renamed(id="r0", name="exp-047"), other.renamed(id="r1")], RESOLVER)
    assert auditor.audit("In exp-031 the reward at step 2 is 0.6.").summary["supported"] == 1
    assert auditor.audit("In exp-047 the reward at step 2 is 0.6.").summary["contradicted"] == 1
    assert auditor.audit("exp-031 ends with a higher reward than exp-047 (0.6 vs 0.127).").summary["supported"] == 1
    assert auditor.audit("exp-047 ends with a higher reward than exp-031 (0.127 vs 0.6).").summary["contradicted"] == 1


def test_audit_without_runs_claims_nothing() -> None:
    assert Auditor([], RESOLVER).audit("Reward is 0.5.").summary["no_claim"] == 1


CELLS = [
    (metric, cell.step, float(cell.value))
    for metric in RUN.metrics
    for cell in RUN.cells(metric)
    if "/" in metric and abs(float(cell.value)) > 1e-12 and not metric.startswith("training/")
]


def shown(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


@settings(max_examples=60, deadline=None)
@given(cell=st.sampled_from(CELLS), form=st.sampled_from(["At step {s}, `{k}` is {v}.", "step {s} 的 `{k}` 为 {v}。"]))
def test_audit_every_cell_told_right_is_supported_and_told_wrong_is_not(
    cell: tuple[str, int, float], form: str
) -> None:
    metric, step, value = cell
    assert only(form.format(s=step, k=metric, v=shown(value))) == "supported"
    assert only(form.format(s=step, k=metric, v=shown(value * 1.37))) == "contradicted"
    assert only(form.format(s=step, k=metric, v=shown(-value))) == "contradicted"


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="stepreward entropy 0123456789.,%→|`\n#-()step 的为从到了上升下降", max_size=120))
def test_audit_any_text_gives_sentences_in_order_within_it(text: str) -> None:
    audit: Audit = AUDITOR.audit(text)
    ends = [(s.start, s.end) for s in audit.sentences]
    assert ends == sorted(ends)
    assert all(text[s.start : s.end] == s.text for s in audit.sentences)
    assert sum(audit.summary.values()) == len(audit.sentences)


def test_audit_forty_sentences_take_less_than_a_fifth_of_a_second_of_work() -> None:
    text = "\n".join([*TRUE, *FALSE.values()][:40])
    AUDITOR.audit(text)
    assert_quick(lambda: AUDITOR.audit(text), 0.2, tries=2)

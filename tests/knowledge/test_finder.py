"""Finding a card from any wording: names, misspelt names, other words; and nothing for what does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.knowledge import library
from assistant.knowledge.finder import Finder
from assistant.knowledge.index import Index, open_index
from assistant.knowledge.questions import asked_framework, asked_kinds, question_terms


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    folder: Path = tmp_path_factory.mktemp("index")
    return Finder(library(), lambda entries: open_index(entries, folder))


def first(finder: Finder, question: str, framework: str | None = None) -> str:
    found = finder.find(question, framework)
    return found[0].card.id if found else ""


@pytest.mark.parametrize(
    ("question", "framework", "card"),
    [
        ("actor/ppo_kl", None, "verl/actor/ppo_kl"),
        ("ａｃｔｏｒ／ｐｐｏ＿ｋｌ 是什麼", None, "verl/actor/ppo_kl"),
        ("timing_s/gen", "verl", "verl/timing_s/gen"),
        ("val-core/omni/acc/maj@16/mean 怎么读", None, "verl/val/maj@n/mean"),
        ("kl", "TRL", "trl/kl"),
        ("what is frac_reward_zero_std", "TRL", "trl/frac_reward_zero_std"),
        ("eps", "TRL", "trl/eps"),
        ("objective/kl in trl", None, "trl/objective/kl"),
    ],
)
def test_find_key_gives_its_card(finder: Finder, question: str, framework: str | None, card: str) -> None:
    assert first(finder, question, framework) == card


@pytest.mark.parametrize(
    ("typo", "card"),
    [
        ("actro/grad_norm", "verl/actor/grad_norm"),
        ("critic/advantges/mean 是什么", "verl/critic/advantages"),
        ("val-core/gsm8k/acc/beest@8/mean", "verl/val/best@n/mean"),
        ("respones_length/clip_ratio", "verl/response_length/clip_ratio"),
    ],
)
def test_find_misspelt_key_gives_the_card_that_was_meant(finder: Finder, typo: str, card: str) -> None:
    assert first(finder, typo, "verl") == card


@pytest.mark.parametrize(
    ("question", "cards"),
    [
        ("输出写到长度上限被掐断的有多少", {"verl/response_length/clip_ratio", "trl/completions/clipped_ratio"}),
        ("policy gradient magnitude before clipping", {"verl/actor/grad_norm"}),
        ("为什么 GRPO 里同一道题的回答要减去组内均值", {"concept/group-relative-methods"}),
        ("KL 估计量 k1 和 k3 有什么区别", {"concept/kl-estimators"}),
        ("entropy went to zero and best@n stopped improving", {"failure/entropy-collapse"}),
        ("每组的奖励都一样，梯度一直是零", {"failure/zero-signal-groups"}),
    ],
)
def test_find_other_words_gives_what_is_meant(finder: Finder, question: str, cards: set[str]) -> None:
    assert cards & {found.card.id for found in finder.find(question, k=3)}


@pytest.mark.parametrize(
    "question",
    [
        "actor/joyfulness",
        "明天北京下雨吗",
        "cheap flights to Lisbon",
        "trainer/sandwich_rate 是什么",
        "",
        "？？？",
        "\x00",
    ],
)
def test_find_what_does_not_exist_gives_nothing(finder: Finder, question: str) -> None:
    assert finder.find(question) == []


def test_find_framework_decides_between_equal_names(finder: Finder) -> None:
    assert first(finder, "entropy", "TRL").startswith("trl/")
    assert first(finder, "entropy", "verl") == "verl/actor/entropy"
    assert first(finder, "grad_norm 是什么", "verl") == "verl/actor/grad_norm"


def test_find_results_are_ordered_and_not_doubled(finder: Finder) -> None:
    found = finder.find("回答长度", k=8)
    assert len({result.card.id for result in found}) == len(found) > 3
    assert [r.score for r in found] == sorted((r.score for r in found), reverse=True)
    assert all(0 <= result.score <= 1 for result in found)


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("优式函数是什么", "concept/advantage"),
        ("梯度犯数看哪个指标", "verl/actor/grad_norm"),
        ("奖力黑客", "concept/reward-hacking"),
        ("entropy/actor", "verl/actor/entropy"),
        ("perf mfu actor 多少算高", "verl/perf/mfu/actor"),
        ("MUF 太低怎么优化", "failure/training-inefficiency"),
    ],
)
def test_find_homophones_swapped_segments_and_missing_joints(finder: Finder, question: str, card: str) -> None:
    assert first(finder, question) == card


@pytest.mark.parametrize(
    ("symptom", "card"),
    [
        ("每步时间越来越长", "failure/training-inefficiency"),
        ("every step gets slower", "failure/training-inefficiency"),
        ("显存一步步往上爬", "failure/memory-leak"),
        ("answers keep getting longer but accuracy is flat", "failure/length-bias"),
    ],
)
def test_find_symptom_gives_the_failure_mode(finder: Finder, symptom: str, card: str) -> None:
    assert first(finder, symptom) == card


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("verl name for TRL's completions/clipped_ratio", "verl/response_length/clip_ratio"),
        ("what is OpenRLHF's version of verl's timing_s/update_weights", "openrlhf/timing/broadcast"),
        ("verl 的 actor/pg_clipfrac 在 OpenRLHF 里叫什么", "openrlhf/ppo_clip_ratio"),
    ],
)
def test_find_of_two_frameworks_the_one_without_the_name_is_asked_for(finder: Finder, question: str, card: str) -> None:
    assert first(finder, question) == card


def test_find_equivalent_in_the_framework_asked_for_comes_first(finder: Finder) -> None:
    assert first(finder, "what does verl call TRL's completions/clipped_ratio", "verl") == (
        "verl/response_length/clip_ratio"
    )


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("verl 里的 entropy", "verl"),
        ("nemo-rl loss", "NeMo-RL"),
        ("trl and verl", None),
        ("trlx", None),
        ("swift 的 kl", "ms-swift"),
        ("train/kl unsloth", "TRL"),
        ("search-r1 的 turns", "verl"),
        ("research-r1 turns", None),
    ],
)
def test_asked_framework_is_the_only_one_named(text: str, framework: str | None) -> None:
    assert asked_framework(text) == framework


def test_question_terms_leaves_fillers_out_and_adds_synonyms_lightly() -> None:
    weights = question_terms("what is the vram")
    assert weights["vram"] == 1.0
    assert weights["显存"] < 1.0
    assert "what" not in weights


def test_asked_kinds_reads_the_wording() -> None:
    assert "metric" in asked_kinds("which metric shows it")
    assert "failure" in asked_kinds("reward 突然掉了")
    assert "concept" in asked_kinds("difference between k1 and k3")


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("which verl metric corresponds to OpenRLHF's actor_grad_norm", "verl/actor/grad_norm"),
        ("what is verl's version of kl from openrlhf", "verl/actor/kl_loss"),
        ("verl 里 TRL entropy 的 counterpart", "verl/actor/entropy"),
        ("AReaL's no_eos_ratios is what in verl", "verl/response_length/clip_ratio"),
        ("cons@64", "verl/val/maj@n/mean"),
        ("std@30 是什么东西", "verl/val/std@n"),
        ("actor/kl los", "verl/actor/kl_loss"),
        ("rewards/rejcted", "trl/rewards/chosen"),
        ("rewards/min in verl", "verl/critic/rewards"),
        ("processing_time/avg in verl", "verl/fully_async/processing_time"),
    ],
)
def test_find_name_of_another_form_gives_its_card(finder: Finder, question: str, card: str) -> None:
    assert first(finder, question) == card


@pytest.mark.parametrize("question", ["what is response_length/zen", "actor/zen", "critic/quantum_flux/mean"])
def test_find_key_with_a_part_like_none_is_unknown(finder: Finder, question: str) -> None:
    assert finder.find(question) == []


def test_find_bare_word_of_a_rare_trainer_does_not_come_first(finder: Finder) -> None:
    assert first(finder, "norm of the policy gradient") == "verl/actor/grad_norm"


def test_find_rate_in_short_form_is_a_throughput(finder: Finder) -> None:
    assert {"verl/perf/throughput", "concept/throughput-basis"} & {f.card.id for f in finder.find("tok/s/gpu", k=3)}


@pytest.mark.parametrize(
    ("typed", "clean"),
    [
        ("learnnig rtae 是啥意思", "learning rate 是啥意思"),
        ("what is gradeint acumulation", "what is gradient accumulation"),
        ("off-plicy 和 on-plicy 怎么分", "off-policy 和 on-policy 怎么分"),
        ("valeu fucntion 是干嘛用的", "value function 是干嘛用的"),
        ("how is clip fractoin computed", "how is clip fraction computed"),
    ],
)
def test_find_misspelt_words_give_what_the_right_ones_give(finder: Finder, typed: str, clean: str) -> None:
    assert first(finder, clean)
    assert first(finder, typed) == first(finder, clean)


def test_find_name_with_another_joint_gives_its_card(finder: Finder) -> None:
    assert first(finder, "vllm-kl") == "openrlhf/vllm_kl"


def test_find_wording_of_a_card_gives_that_card(finder: Finder) -> None:
    assert first(finder, "R3") == "concept/routing-replay"
    assert first(finder, "rollout routing replay?") == "concept/routing-replay"


@pytest.mark.parametrize(
    ("question", "framework", "card"),
    [
        ("verl equivalent of approxkl", "verl", "verl/actor/ppo_kl"),
        ("SB3 clip_fraction but for OpenRLHF", "OpenRLHF", "openrlhf/ppo_clip_ratio"),
        (
            "AReaL's timeperf/ref_logp -> what is that in NeMo-RL",
            None,
            "nemo-rl/timing/train/policy_and_reference_logprobs",
        ),
    ],
)
def test_find_key_of_another_framework_gives_the_counterpart(
    finder: Finder, question: str, framework: str | None, card: str
) -> None:
    assert first(finder, question, framework) == card


@pytest.mark.parametrize("question", ["step time 跟什么有关", "is validation loss supposed to be near zero"])
def test_find_name_in_an_unusual_sentence_gives_something(finder: Finder, question: str) -> None:
    assert finder.find(question)


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("verl 里对应 AReaL ppo_actor/no_eos_ratios/avg 的是哪个", "verl/response_length/clip_ratio"),
        ("NeMo-RL 的 train/approx_entropy 换到 TRL 看哪个 key", "trl/entropy"),
        ("what does TRL call AReaL's ppo_actor/update/behave_imp_weight/avg", "trl/sampling/importance_sampling_ratio"),
        ("TRL counterpart of train/baseline_reward/pct_mixed", "trl/frac_reward_zero_std"),
        ("ROLL 有没有类似 perf/max_memory_allocated_gb 的", "roll/memory/max_allocated"),
    ],
)
def test_find_counterpart_that_a_card_tells_comes_first(finder: Finder, question: str, card: str) -> None:
    assert first(finder, question) == card


def test_find_key_of_another_framework_without_asking_for_a_counterpart_is_not_translated(finder: Finder) -> None:
    assert "trl/objective/kl" in [found.card.id for found in finder.find("TRL objective/kl 是什么", "verl")][:2]


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("TRL eval loss", "trl/eval_loss"),
        ("NeMo-RL 日志里 policy kl error 是什么", "nemo-rl/train/policy_kl_error"),
        ("slime: what is longest sample tokens per sec", "slime/perf/longest_sample_tokens_per_sec"),
        ("ROLL critic rewards mean 怎么看", "roll/critic/rewards"),
        ("actor/kl los", "verl/actor/kl_loss"),
    ],
)
def test_find_key_said_in_words_gives_its_card(finder: Finder, question: str, card: str) -> None:
    assert first(finder, question) == card


@pytest.mark.parametrize(
    "question",
    ["rollout_is_eff_sample_size 是什么意思", "rolluot_is_eff_sample_size 是什么意思", "why is ppo_kl so high"],
)
def test_find_name_with_joints_is_a_metric_before_the_concept(finder: Finder, question: str) -> None:
    assert finder.find(question)[0].card.framework not in {"concept", "failure"}


def test_find_setting_in_a_long_question_is_not_taken_for_an_unknown_key(finder: Finder) -> None:
    assert finder.find("OpenRLHF 里 prompt 和回答总长顶到 max_len 的样本占多大比例")
    assert not finder.find("actor/karma_ratio 这个指标一直往上涨是什么意思呀，要不要紧")


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("rollout/moe/avg_voi 高不高", "verl/rollout/moe/avg_vio"),
        (
            "my timing/train/policy_and_reference_logprosb keeps growing",
            "nemo-rl/timing/train/policy_and_reference_logprobs",
        ),
        ("val-core/aime/acc/worst@8/mean", "verl/val/worst@n/mean"),
        ("evall_gsm8k_pass8 meaning", "openrlhf/eval_passn"),
        ("ppokl 是什么", "verl/actor/ppo_kl"),
        ("actor_gradnorm", "openrlhf/actor_grad_norm"),
        ("rollputrewards", "slime/rollout/rewards"),
    ],
)
def test_find_misspelt_template_or_joint_gives_the_card(finder: Finder, question: str, card: str) -> None:
    assert card in {found.card.id for found in finder.find(question, k=3)}


def test_find_setting_that_the_cards_speak_of_is_no_unknown_key(finder: Finder) -> None:
    assert "concept/kv-cache-preemption" in {found.card.id for found in finder.find("max_num_seqs 太大会怎样", k=3)}


@pytest.mark.parametrize("question", ["value loss in OpenRLHF", "OpenRLHF 的 value loss 看哪条"])
def test_find_value_loss_is_not_any_loss(finder: Finder, question: str) -> None:
    assert first(finder, question) == "openrlhf/critic_loss"


def test_find_third_place_goes_to_another_kind_that_is_nearly_as_likely(finder: Finder) -> None:
    for question in (
        "每组的奖励都一样，梯度一直是零",
        "policy entropy falls and answers get shorter",
        "训推不一致怎么看",
    ):
        found = finder.find(question, k=8)
        kinds = [one.card.framework if one.card.framework in {"concept", "failure"} else "metric" for one in found]
        missed = [one for one, kind in zip(found[3:], kinds[3:], strict=True) if kind not in kinds[:3]]
        assert len(set(kinds[:3])) > 1 or all(one.score < found[2].score - 0.02 for one in missed)


# --- what is offered where nothing is sure -------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("respnse_lenth/zen", "verl/response_length"),
        ("actor/gradient_magnitude", "verl/actor/grad_norm"),
        ("critic/rewrds/men", "verl/critic/rewards"),
        ("val-core/aime/acc/median@8/mean", "verl/val/mean@n"),
        ("entorpy", "verl/actor/entropy"),
        ("熵坍塔", "failure/entropy-collapse"),
    ],
)
def test_nearest_offers_what_may_have_been_meant(finder: Finder, text: str, card: str) -> None:
    assert card in {offered.id for offered in finder.nearest(text)}


def test_nearest_offers_where_there_is_no_answer_and_none_is_given_for_it(finder: Finder) -> None:
    for unknown in ("actor/joyfulness", "trainer/sandwich_rate 是什么", "respnse_lenth/zen"):
        assert finder.find(unknown) == []
        assert len({card.id for card in finder.nearest(unknown)}) == 3


def test_nearest_misspelt_key_needs_no_index() -> None:
    def no_index(entries: object) -> Index:
        raise AssertionError("opened")

    assert [card.id for card in Finder(library(), no_index).nearest("respnse_lenth/zen", k=1)] == [
        "verl/response_length"
    ]


def test_nearest_prefers_the_framework_asked_for(finder: Finder) -> None:
    assert [finder.nearest("train/grad_nrom", name)[0].id for name in ("slime", "verl")] == [
        "slime/train/grad_norm", "verl/train/grad_norm"
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "???", "  ", "\x00"])
def test_nearest_of_no_word_offers_nothing(finder: Finder, text: str) -> None:
    assert finder.nearest(text) == []


@given(st.text(max_size=40))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nearest_of_any_text_gives_at_most_three_cards_each_once(finder: Finder, text: str) -> None:
    near = [card.id for card in finder.nearest(text)]
    assert len(near) == len(set(near)) <= 3


def test_leading_name_of_every_metric_leads_to_its_card(finder: Finder) -> None:
    for card in library():
        name = finder.leading_name(card, "grad_norm")
        assert finder.resolver.name(name)[0].card is card, name


def test_leading_name_is_the_key_most_like_the_text(finder: Finder) -> None:
    card = library().cards["verl/response_length"]
    assert finder.leading_name(card, "response_length/maxx") == "response_length/max"
    assert finder.leading_name(card, "zebra") == card.keys[0]
    assert finder.leading_name(library().cards["concept/gae"], "gae") == "concept/gae"


# --- short, misspelt and abbreviated questions ---------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "cards"),
    [
        ("tput", {"verl/perf/throughput", "concept/throughput-basis", "general/tokens_per_sec"}),
        ("gpu util", {"concept/model-flops-utilization", "general/mfu", "failure/training-inefficiency"}),
        ("fwd bwd time", {"megatron/timers"}),
        ("grad nrm", {"verl/actor/grad_norm", "general/grad_norm"}),
        ("resp len 截断", {"openrlhf/response_clip_ratio", "verl/response_length/clip_ratio"}),
        ("wating for data", {"general/data_time"}),
        ("critic (valie) loss", {"verl/critic/vf_loss"}),
        ("train_bstch_size", {"concept/mini-batch"}),
        ("奖励漓散度", {"trl/reward_std", "custom/std_reward", "ms-swift/reward_std"}),
        ("通过驴", {"concept/pass-at-k", "nemo-rl/validation/pass_k", "slime/validation/pass@k"}),
        ("训练推里不一致", {"failure/train-inference-mismatch", "concept/rollout-training-mismatch"}),
    ],
)
def test_find_short_question_with_a_slip_or_an_abbreviation(finder: Finder, question: str, cards: set[str]) -> None:
    assert cards & {found.card.id for found in finder.find(question, k=3)}


@pytest.mark.parametrize(
    ("question", "framework", "card"),
    [
        ("rollout/rewards (slime) in verl?", "verl", "verl/critic/rewards"),
        ("verl: what is the rollout/rewards of slime there", None, "verl/critic/rewards"),
        ("what does verl call slime's rewards", None, "verl/critic/rewards"),
        ("I come from verl. Where does TRL log step?", None, "trl/step_time"),
        ("从 verl 迁移到 TRL，actor/entropy 看哪个", None, "trl/entropy"),
        ("想在 OpenRLHF 找 verl 的 actor/pg_clipfrac，which key?", None, "openrlhf/ppo_clip_ratio"),
    ],
)
def test_find_question_of_two_frameworks_gives_the_one_asked_for(
    finder: Finder, question: str, framework: str | None, card: str
) -> None:
    assert first(finder, question, framework) == card


@pytest.mark.parametrize(
    ("question", "cards"),
    [
        ("gen secs", {"verl/timing_s/gen"}),
        ("logp recompute secs", {"verl/timing_s/old_log_prob", "roll/time/old_log_probs_values"}),
        ("policy grad loss", {"verl/actor/pg_loss"}),
        ("roll reward clip pct", {"roll/critic/reward_clip_frac"}),
        ("roll valid sample pct", {"roll/actor/valid_sample_ratio"}),
        ("eos terminated mean len trl", {"trl/completions/terminated_length"}),
        ("slime train tflops", {"slime/perf/actor_train_tflops"}),
        ("spec decode 接受率", {"verl/rollout/spec_accept_rate"}),
        ("显存预留峰值", {"verl/perf/max_memory_reserved_gb"}),
        ("训练器空闲占比", {"verl/fully_async/trainer/idle_ratio"}),
        ("每步词元总数", {"verl/perf/total_num_tokens"}),
        ("trajectory_staleness", {"verl/training/off_policy/trajectory_staleness"}),
        ("log 里的 step_time 单位", {"trl/step_time", "slime/perf/step_time"}),
        ("what does slime call verl's perf/throughput", {"slime/perf/tokens_per_gpu_per_sec"}),
    ],
)
def test_find_name_put_in_other_words_gives_the_metric(finder: Finder, question: str, cards: set[str]) -> None:
    assert first(finder, question) in cards


@pytest.mark.parametrize(
    "question",
    [
        "gpu temperature",
        "GPU 温度看哪个 metric",
        "bleu score",
        "word error rate",
        "机房的湿度是多少",
        "what's the score of the basketball match tonight",
        "rollout/sarcasm_rate",
    ],
)
def test_find_quantity_that_nothing_here_measures_gives_nothing(finder: Finder, question: str) -> None:
    assert finder.find(question) == []


def test_find_quantity_measured_elsewhere_in_a_symptom_is_no_hindrance(finder: Finder) -> None:
    assert finder.find("gpu power usage dropped and every step suddenly got slower")

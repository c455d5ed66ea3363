import pytest

from assistant.model import InputError, KnowledgeError
from assistant.parsing import parse_text
from assistant.service import service
from assistant.service.checking import check_runs
from assistant.service.thresholds import read_thresholds, shipped

LOG = "\n".join(
    f"step:{s} - actor/ppo_kl:{0.001 * s} - actor/entropy:0.5 - response_length/clip_ratio:{0.01 * s}"
    for s in range(1, 9)
)


def check(text, *thresholds, language="en"):
    return check_runs(parse_text(text).runs, service().resolver, thresholds=thresholds, language=language)


def test_check_of_a_users_threshold_states_the_breach_traced():
    report = check(LOG, "ppo_kl < 0.0065")
    (finding,) = [f for f in report.findings if f.rule == "threshold"]
    assert finding.metrics == ("actor/ppo_kl",)
    assert finding.steps == (7, 8)
    facts = {fact.id: fact for fact in report.facts}
    assert {facts[i].value for i in finding.evidence} >= {0.007, 0.008, 2, 8, 0.0065}
    assert "0.008" in finding.statement
    assert report.reaches("warning")
    assert not report.reaches("critical")


def test_check_in_both_languages_finds_the_same():
    zh, en = (check(LOG, "ppo_kl < 0.0065", language=language) for language in ("zh", "en"))
    assert [(f.rule, f.severity, f.steps) for f in zh.findings] == [(f.rule, f.severity, f.steps) for f in en.findings]
    stated = [{(f.kind, f.metric, f.name, f.step, f.value) for f in report.facts} for report in (zh, en)]
    assert stated[0] == stated[1]
    assert "不满足" in zh.text
    assert zh.verdict.code == en.verdict.code


def test_check_of_an_impossible_value_says_that_the_log_cannot_be_right():
    report = check(LOG.replace("actor/entropy:0.5", "actor/entropy:-0.5"))
    assert any(f.rule.startswith("threshold/possible/actor/entropy") for f in report.findings)


def test_check_of_a_misspelt_metric_names_the_nearest():
    with pytest.raises(InputError, match="actor/ppo_kl"):
        check(LOG, "ppo_kk < 1")


def test_check_of_a_known_metric_that_was_not_logged_is_said_to_be_unchecked():
    report = check(LOG, "actor/grad_norm < 1")
    assert "actor/grad_norm" in report.warnings[0]
    assert not any(f.rule == "threshold" for f in report.findings)


def test_check_without_metrics_is_an_error():
    with pytest.raises(InputError, match="no metric"):
        check_runs((), service().resolver)


def test_check_of_several_runs_numbers_facts_through():
    runs = [run.renamed(id=f"r{i}") for i, run in enumerate(parse_text(LOG).runs * 2)]
    report = check_runs(runs, service().resolver, thresholds=["ppo_kl < 0.0065"])
    ids = [fact.id for fact in report.facts]
    assert ids == [f"E{i}" for i in range(1, len(ids) + 1)]
    assert {fact.run for fact in report.facts} == {"r0", "r1"}
    for finding in report.findings:
        assert set(finding.evidence) <= set(ids)


def test_shipped_thresholds_name_cards_that_exist():
    library = service().resolver.library
    assert {t.id for t in shipped() if library.get(t.card or "") is None} == set()


def test_thresholds_file_with_a_slip_is_refused_with_its_place(tmp_path):
    path = tmp_path / "thresholds.yaml"
    path.write_text("- {id: x, frameworks: [verl], require: a <, source: s, card: c}\n", encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r"thresholds.yaml: x"):
        read_thresholds(path)
    path.write_text("- {id: x, frameworks: [verl], source: s, card: c}\n", encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r"thresholds.yaml: 0"):
        read_thresholds(path)


def test_critical_band_without_a_second_sign_is_refused(tmp_path):
    path = tmp_path / "thresholds.yaml"
    entry = "- {id: x, frameworks: [v], measure: a, source: s, card: c, bands: [{above: 1, severity: critical}]}\n"
    path.write_text(entry, encoding="utf-8")
    with pytest.raises(KnowledgeError, match="confirm"):
        read_thresholds(path)


def test_check_by_the_head_of_a_family_judges_its_mean():
    log = "\n".join(
        f"step:{s} - response_length/mean:{900 - s} - timing_s/agent_loop/slowest/response_length:{5000 - s}"
        for s in range(1, 9)
    )
    (finding,) = [f for f in check(log, "response_length < 100").findings if f.rule == "threshold"]
    assert finding.metrics == ("response_length/mean",)


def test_check_of_bounds_that_exclude_each_other_is_refused():
    with pytest.raises(InputError, match="never hold"):
        check(LOG, "0.5 <= ppo_kl <= 0.1")


def test_check_of_a_window_beyond_the_log_says_that_nothing_was_checked():
    report = check(LOG, "ppo_kl < 1 @ 5000:")
    assert "`ppo_kl < 1`" in report.text
    assert "was not checked" in report.text


def test_check_of_a_rounding_error_below_a_bound_is_no_accusation():
    report = check(LOG.replace("actor/entropy:0.5", "actor/entropy:-5.96e-08"))
    assert not any(f.rule.startswith("threshold/possible") for f in report.findings)


def test_check_with_a_sourced_threshold_shows_its_sentence_in_full():
    log = LOG.replace("actor/entropy:0.5", "actor/entropy:0.5 - training/rollout_actor_probs_pearson_corr:0.5")
    report = check(log)
    (finding,) = [f for f in report.findings if f.rule == "threshold/verl_pearson"]
    assert finding.statement in report.text
    assert not report.warnings


def test_check_of_a_share_beyond_its_range_is_a_remark_that_says_what_it_comes_of():
    text = "\n".join(f"step:{s} - perf/mfu/actor:{0.9 + 0.05 * s:.2f} - actor/entropy:0.5" for s in range(1, 9))
    (finding,) = [f for f in check(text).findings if f.rule == "threshold/possible/perf/mfu/actor"]
    assert finding.severity == "info"
    assert finding.steps == (3, 4, 5, 6, 7, 8)
    assert "130%" in finding.statement
    assert "peak" in finding.statement
    assert "峰值" in next(f for f in check(text, language="zh").findings if "mfu" in f.rule).statement


@pytest.mark.parametrize(("bad", "word"), [(1, "altered"), (20, "do not read it by that definition")])
def test_check_of_impossible_values_weighs_how_many_there_are(bad, word):
    text = "\n".join(f"step:{s} - actor/entropy:{-0.5 if s <= bad else 0.5} - actor/ppo_kl:0.001" for s in range(1, 41))
    (finding,) = [f for f in check(text).findings if f.rule == "threshold/possible/actor/entropy"]
    assert word in finding.statement


def test_check_of_a_placeholder_is_silent():
    lines = [f"iter {i}: loss {4 - 0.1 * i:.4f}, time 50.00ms, mfu {-100 if i == 0 else 7:.2f}%" for i in range(12)]
    assert not [f for f in check("\n".join(lines)).findings if "mfu" in f.rule]

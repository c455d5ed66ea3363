"""How the page tells facts, verdicts and curves: in words and steps, never in the engine's own ids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.web.logs import verl_log
from tests.web.support import EXAMPLE, Pages, Server, answered, ask, attach, until
from tests.web.test_looks import serious

#: What no reader should meet: an unset field, an internal id or name.
RAW = re.compile(r"undefined|NaN|\bnull\b|/E\d+|\br\d+:|noise_95|p_corrected|_")


def compared(pages: Pages, folder: Path, *, lang: str = "en", lengths: tuple[int, int] = (40, 90)) -> Page:
    """A page with the answer to a comparison of two runs."""
    first, second = folder / "first.log", folder / "second.log"
    first.write_text(verl_log(lengths[0]))
    second.write_text(verl_log(lengths[1], seed=7, collapse_at=20))
    page = pages.open(lang=lang)
    attach(page, first, second)
    ask(page, {"zh": "这两次训练哪个更好？", "en": "Which of the two runs is better?"}[lang])
    answered(page)
    return page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_ledger_of_a_comparison_reads_well_and_fits(pages: Pages, server: Server, tmp_path: Path, lang: str) -> None:
    page = compared(pages, tmp_path, lang=lang)
    page.click(".traced")
    session = page.evaluate("location.hash").removeprefix("#/s/")
    facts = server.get(f"/sessions/{session}")["messages"][-1]["answer"]["facts"]
    rows = page.locator(".ledger tbody tr")
    assert rows.count() == len(facts)
    changes = [place for place, fact in enumerate(facts) if fact["kind"] == "change"]
    assert len(changes) >= 5
    for place in changes:
        cells = rows.nth(place).locator("td").all_inner_texts()
        assert re.fullmatch(r"\d+(–\d+)?( → \d+(–\d+)?)?", cells[2]), cells
        assert re.fullmatch(r"\S+ → \S+", cells[3]), cells
        assert "first.log → second.log" in cells[1]
    told = page.evaluate(
        """() => [...document.querySelectorAll(".ledger tbody tr")].map(row => {
          const what = row.cells[1].cloneNode(true);
          what.querySelectorAll("code, small").forEach(node => node.remove());
          return [what.textContent, row.cells[2].textContent, row.cells[3].textContent].join(" ");
        })"""
    )
    assert [text for text in told if RAW.search(text)] == []
    cut = "node => node.scrollWidth - node.clientWidth"
    assert page.locator(".ledger").evaluate(cut) <= 1
    assert serious(page) == []


def test_fact_of_every_kind_is_told_in_words(pages: Pages) -> None:
    page = pages.open()
    told = page.evaluate(
        """async () => {
          const { factText, stepText, factValue } = await import("/static/js/facts.js");
          const facts = [
            {kind: "value", metric: "actor/entropy", step: 3, value: 0.25, line: 9},
            {kind: "change", metric: "a/b", from_step: 1, to_step: 9, from: 205.01, to: 205.02},
            {kind: "change", metric: "a/b", from: 1, to: -2, formula: "r1:a/b at steps 45–59 − r0:a/b at steps 40–50"},
            {kind: "change", metric: "a/b", from: 1, to: 2, formula: "r1:a/b − r0:a/b"},
            {kind: "trend", metric: "a/b", first_step: 1, last_step: 9, direction: "rising"},
            {kind: "share", name: "timing_s/gen", of: "timing_s/step", step: 4, value: 0.5},
            {kind: "missing", name: "metrics after the cut", step: 10, reason: "line cut"},
            {kind: "missing", metric: "a/b", step: 10, reason: "line cut"},
            {kind: "derived", name: "noise_95/critic/score/mean/E880", value: 0.07},
            {kind: "derived", name: "mean/a/b/45-59", metric: "a/b", value: 7, first_step: 45, last_step: 59},
            {kind: "derived", name: "median_first_third/a/b/1-179", value: 1},
            {kind: "derived", name: "slope_before/a/b/1-179/linear", step: 104, value: 0},
            {kind: "derived", name: "mean(a/b)", value: 1}, {kind: "derived", name: "samples/r0", value: 16},
            {kind: "derived", name: "se_mean@16/aime/acc", step: 0, value: 0.5},
            {kind: "derived", name: "some_new_quantity", value: true},
          ];
          return facts.map(fact => [factText(fact), stepText(fact), factValue(fact)]);
        }"""
    )
    assert told == [
        ["actor/entropy", "3", "0.25"], ["a/b", "1 → 9", "205.01 → 205.02"], ["a/b", "40–50 → 45–59", "1 → -2"],
        ["a/b", "", "1 → 2"], ["a/b", "1–9", "rising"], ["Share of timing_s/step: timing_s/gen", "4", "0.5"],
        ["Metrics after the cut", "10", "missing"], ["a/b", "10", "missing"],
        ["95% interval (±): critic/score/mean", "", "0.07"], ["Mean: a/b", "45–59", "7"],
        ["Median of the first third: a/b", "1–179", "1"], ["Slope before the change: a/b", "104", "0"],
        ["Mean: a/b", "", "1"], ["Samples per problem", "", "16"],
        ["Re-sampling standard error, 16 answers each: aime/acc", "0", "0.5"], ["some new quantity", "", "yes"],
    ]  # fmt: skip


def test_overview_has_a_tick_only_where_the_rules_know_enough(pages: Pages, server: Server, tmp_path: Path) -> None:
    foreign, few, healthy = tmp_path / "foreign.log", tmp_path / "few.log", tmp_path / "healthy.log"
    foreign.write_text("".join(f"step:{n} - my/own_key:{n % 7}.5 - my/other:{n % 5}.25\n" for n in range(1, 60)))
    few.write_text(verl_log(3))
    healthy.write_text(verl_log(90))
    page = pages.open()
    attach(page, foreign, few, healthy)
    session = page.evaluate("location.hash").removeprefix("#/s/")
    codes = {}
    for place, name in enumerate(("foreign.log", "few.log", "healthy.log")):
        verdict = server.get(f"/sessions/{session}/runs/r{place}/overview?lang=en")["verdict"]
        codes[name] = verdict["code"]
        page.click("#run-pick button")
        page.click(f'.menu [role="menuitem"] >> text="{name}"')
        until(lambda: page.inner_text("#run-pick .run-name span") == name, "the run is shown")  # noqa: B023
        page.wait_for_selector(f"#view-overview dd >> text={ {0: '1 – 59', 1: '1 – 3', 2: '1 – 90'}[place] }")
        ticks = page.locator("#view-overview .calm:not(.unsure)").count()
        assert ticks == (verdict["code"] == "healthy"), name
        if verdict["code"] == "insufficient_data":
            assert verdict["summary"].replace("`", "") in page.inner_text("#view-overview .calm.unsure")
    assert codes == {"foreign.log": "insufficient_data", "few.log": "insufficient_data", "healthy.log": "healthy"}


def test_overview_finding_has_a_short_title_and_unfolds(pages: Pages, tmp_path: Path) -> None:
    log = tmp_path / "collapsed.log"
    log.write_text(verl_log(90, seed=7, collapse_at=40))
    page = pages.open()
    attach(page, log)
    page.wait_for_selector(".finding")
    shown = page.locator(".finding").count()
    assert page.inner_text("#view-overview .tally") == str(shown)
    card = page.locator(".finding.critical").first
    assert 0 < len(card.locator(".finding-title").inner_text()) < 60
    assert card.locator("details p").is_hidden()
    card.locator("summary").click()
    assert serious(page, "#panel") == []
    assert len(card.locator("details p").inner_text()) > 60


def test_small_chart_of_two_runs_spans_the_longer_one(pages: Pages, tmp_path: Path) -> None:
    page = compared(pages, tmp_path, lengths=(40, 90))
    card = page.locator(".answer .figure").first
    assert card.locator(".figure-foot span").nth(0).inner_text() == "step 1"
    assert card.locator(".figure-foot span").nth(2).inner_text() == "90"
    ends = card.evaluate(
        """node => [...node.querySelectorAll("path.line")].map(path => {
          const numbers = path.getAttribute("d").match(/[\\d.]+/g).map(Number);
          return numbers.at(-2) / 200;
        })"""
    )
    assert len(ends) == 2
    assert ends[0] == pytest.approx(39 / 89, abs=0.03)  # the shorter one ends where its steps end
    assert ends[1] == pytest.approx(1, abs=0.03)
    name, value = card.locator(".figure-name").bounding_box(), card.locator(".figure-value").bounding_box()
    box = card.bounding_box()
    assert name
    assert value
    assert box
    apart = name["x"] + name["width"] <= value["x"] or name["y"] + name["height"] <= value["y"] + 1
    assert apart, "name and value do not touch"
    assert value["x"] + value["width"] <= box["x"] + box["width"]


def test_small_chart_tells_its_ends_apart(pages: Pages) -> None:
    page = pages.open()
    told = page.evaluate(
        """async () => {
          const { figures } = await import("/static/js/i18n.js");
          const pairs = [[205.0001, 205.4], [0.5, 0.5], [-1, 2.25], [1e-5, 1.001e-5], [1519309.4, 1519311.6]];
          return pairs.map(pair => figures(pair));
        }"""
    )
    assert told == [
        ["205", "205.4"],
        ["0.5", "0.5"],
        ["-1", "2.25"],
        ["1.000e-05", "1.001e-05"],
        ["1,519,309", "1,519,312"],
    ]


def shown_step(page: Page) -> int:
    """The step whose values the chart's table tells."""
    found = re.search(r"\d+", page.inner_text("#view-chart .legend thead .num"))
    return int(found[0]) if found else -1


def test_chart_of_three_sizes_has_a_strip_each_and_they_move_together(pages: Pages, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(verl_log(60))
    page = pages.open()
    attach(page, log)
    page.click("#tab-chart")
    page.wait_for_selector("#view-chart canvas")
    for name in ("actor/entropy", "perf/throughput", "timing_s/step", "response_length/mean"):
        page.fill(".chart-pick input", name)
        page.press(".chart-pick input", "Enter")
        page.wait_for_selector(f'.chart-chip:has-text("{name}")')
    until(lambda: page.locator(".strip canvas").count() >= 3, "strips are drawn")
    names = page.locator(".strip-name code").all_inner_texts()
    assert set(names) == set(page.locator(".chart-chip code").all_inner_texts())
    assert "actor/entropy" in names
    assert page.locator(".strip .u-axis").count() == 2 * len(names)  # one scale of values in each
    ranges = """async () => {
      const boxes = [...document.querySelectorAll(".strip .u-over")].map(node => node.getBoundingClientRect());
      return new Set(boxes.map(box => box.left + ":" + box.width)).size;
    }"""
    assert serious(page, "#panel") == []
    assert page.evaluate(ranges) == 1  # the same step stands at the same place in each
    page.focus(".plot")
    for _ in range(3):
        page.keyboard.press("+")  # towards the middle of 60 steps
    for strip in range(2):
        page.locator(".strip .u-over").nth(strip).hover(position={"x": 2, "y": 20})
        until(lambda: 12 < shown_step(page) < 30, "each strip begins at a later step")
    page.set_viewport_size({"width": 1600, "height": 900})
    page.click(".chart-chip >> nth=0 >> button")
    until(lambda: page.locator(".strip").count() == len(names) - 1, "one strip is gone")


def test_wide_table_shows_its_conclusion_second_and_scrolls_under_its_first_column(
    pages: Pages, tmp_path: Path
) -> None:
    page = compared(pages, tmp_path)
    head = page.locator(".prose table.wide thead th").all_inner_texts()
    assert head[:2] == ["Metric", "Verdict"]
    frame = page.locator(".prose .table:has(table.wide)").first
    first = frame.locator("tbody td").first
    before = first.bounding_box()
    frame.evaluate("node => { node.scrollLeft = 200; }")
    assert first.bounding_box() == before
    assert first.evaluate("node => getComputedStyle(node).position") == "sticky"
    assert frame.locator("td.num").first.evaluate("node => getComputedStyle(node).textAlign") == "right"


def test_example_log_is_answered_with_cells_marked_quietly(pages: Pages) -> None:
    assert EXAMPLE.exists()
    page = pages.open()
    page.click(".welcome .example >> nth=0")
    answered(page)
    page.mouse.move(2, 2)
    style = "node => getComputedStyle(node).textDecorationStyle + getComputedStyle(node).textDecorationColor"
    cell, other = page.locator(".answer a.n.cell").first, page.locator(".answer a.n:not(.cell)").first
    assert cell.evaluate(style).startswith("dotted")
    assert "rgba(0, 0, 0, 0)" in other.evaluate(style)
    other.hover()
    until(lambda: "rgba(0, 0, 0, 0)" not in other.evaluate(style), "it shows that it can be opened")

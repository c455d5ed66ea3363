"""The whole path in a real browser: a log in, an answer out, a number clicked, a chart drawn; in both languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.web.logs import verl_log
from tests.web.support import EXAMPLE, Pages, Server, answered, ask, attach, paste, until

QUESTION = {"zh": "跟 step 0 相比，模型有改进吗？", "en": "Has the model improved since step 0?"}
VERDICT = {"zh": "不能这样比", "en": "not comparable|cannot be compared|not a fair"}


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_page_pasted_log_to_answer_to_number_to_chart(pages: Pages, lang: str) -> None:
    page = pages.open(lang=lang)
    assert page.locator(".welcome .example").count() == 3
    paste(page, EXAMPLE.read_text(encoding="utf-8") + "\n" + QUESTION[lang])
    page.press("#ask-text", "Enter")
    answered(page)
    text = page.inner_text(".answer")
    assert re.search(r"(\d+)\D+\1\D", page.inner_text(".traced") + " "), "all numbers are traced"
    assert ("训练" in text) == (lang == "zh")
    assert page.locator(".answer table").count() >= 1

    # Each number is an element; one that is a cell of the log lights up its cell, its line, its card.
    session = page.evaluate("location.hash").removeprefix("#/s/")
    answer = pages_answer(page, pages, session)
    fact = next(f for f in answer["facts"] if f["kind"] == "value" and f["metric"] == "critic/rewards/mean")
    page.click(f'.answer a[data-fact="{fact["id"]}"] >> nth=0')
    page.wait_for_selector("#view-evidence .lines .lit mark")
    assert page.inner_text("#view-evidence mark").startswith("critic/rewards/mean")
    assert str(fact["value"]) in page.inner_text("#view-evidence mark")
    assert page.inner_text("#view-evidence .lines .lit .n-line") == str(fact["line"])
    assert page.locator('#view-evidence .cells td[aria-current="true"]').count() == 1
    page.wait_for_selector("#view-evidence .card details")
    assert page.locator(".answer a.lit").count() >= 1
    page.click("#tab-metrics")
    page.wait_for_selector('#view-metrics tr.lit[data-key="critic/rewards/mean"]')

    page.click("#tab-chart")
    page.wait_for_selector("#view-chart canvas")
    assert "critic/rewards/mean" in page.inner_text("#view-chart .legend")
    assert page.inner_text("#view-chart .legend tbody td.num") != ""


def pages_answer(page: object, pages: Pages, session: str) -> dict[str, object]:
    """The last answer of a session, as the API gives it."""
    import urllib.request

    with urllib.request.urlopen(f"{pages.url}/sessions/{session}") as reply:
        return json.load(reply)["messages"][-1]["answer"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_page_first_visit_example_is_one_click_away(pages: Pages, lang: str) -> None:
    page = pages.open(lang=lang)
    assert page.is_visible("#banner")
    page.click(".welcome .example >> nth=1")
    answered(page)
    assert "8,192" in page.inner_text(".answer")
    page.wait_for_selector(".suggestions button")
    assert page.locator("#session-list a").count() >= 1


def test_page_suggestions_are_questions_that_the_run_answers(pages: Pages, server: Server) -> None:
    page = pages.open()
    page.click(".welcome .example >> nth=2")
    answered(page)
    session = page.evaluate("location.hash").removeprefix("#/s/")
    asked = {page.inner_text(".question .bubble-text")}
    for _ in range(2):
        for text in page.locator(".suggestion").all_inner_texts():
            if text in asked:
                continue
            asked.add(text)
            reply = server.post(f"/sessions/{session}/messages", {"content": text, "lang": "auto", "engine": "offline"})
            assert reply["verdict"]["code"] not in {"out_of_scope", "no_data", "unknown_metric", "no_metrics"}, text
        page.reload()
        page.wait_for_selector(".suggestions button")
    assert len(asked) >= 5


def test_page_long_paste_becomes_an_attachment_and_its_question_is_found(pages: Pages) -> None:
    page = pages.open()
    paste(page, verl_log(60) + "\nHow does actor/entropy develop?\n")
    page.wait_for_selector(".chip.done")
    assert "60" in page.inner_text(".chip.done")
    assert page.input_value("#ask-text") == "How does actor/entropy develop?"
    page.press("#ask-text", "Enter")
    answered(page)
    assert "actor/entropy" in page.inner_text(".answer")
    page.wait_for_selector(".answer .figure")
    page.click(".answer .figure")
    page.wait_for_selector("#view-chart canvas")


def test_page_enter_while_uploading_sends_when_the_log_was_read(pages: Pages, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(verl_log(40))
    page = pages.open()
    page.set_input_files("#files", str(log))
    ask(page, "Is this run healthy?")
    answered(page)
    assert page.inner_text(".question .bubble-text") == "Is this run healthy?"
    assert page.locator("#panel .run-name").inner_text() == "train.log"


def test_page_file_of_fifty_megabytes_is_read(pages: Pages, tmp_path: Path) -> None:
    log = tmp_path / "large.log"
    other = ("(WorkerDict pid=77) INFO 01-02 03:04:05 engine: rollout " + "token " * 120 + "\n") * 60
    with log.open("w") as handle:
        for line in verl_log(1100).splitlines():
            handle.write(line + "\n")
            handle.write(other)
    assert log.stat().st_size > 50_000_000
    page = pages.open()
    attach(page, log)
    assert "1,100" in page.inner_text(".chip.done")
    ask(page, "How does actor/entropy develop?")
    answered(page)
    assert "actor/entropy" in page.inner_text(".answer")


def test_page_folder_of_a_logger_is_one_attachment(pages: Pages, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "first.log").write_text(verl_log(12))
    (folder / "second.log").write_text(verl_log(14, seed=3))
    (folder / "notes.txt").write_text("nothing to see here\n")
    page = pages.open()
    page.set_input_files("#folder", str(folder))
    page.wait_for_selector(".chip.done")
    assert page.inner_text(".chip-name") == "runs"
    assert "2 runs" in page.inner_text(".chip-note")


def test_page_dropped_file_is_attached(pages: Pages) -> None:
    page = pages.open()
    page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.items.add(new File([text], "dropped.log"));
          for (const name of ["dragenter", "dragover", "drop"])
            document.body.dispatchEvent(new DragEvent(name, {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        verl_log(12),
    )
    page.wait_for_selector(".chip.done")
    assert page.inner_text(".chip-name") == "dropped.log"
    assert page.is_hidden("#drop")


def test_page_text_without_metrics_says_so(pages: Pages, tmp_path: Path) -> None:
    log = tmp_path / "empty.log"
    log.write_text("no metric here\n" * 20)
    pages.expected.append("422")
    page = pages.open()
    page.set_input_files("#files", str(log))
    page.wait_for_selector(".chip.error")
    assert len(page.inner_text(".chip-note")) > 10
    page.click(".chip .icon >> nth=1")
    assert page.locator(".chip").count() == 0


def test_page_two_runs_are_compared_in_answer_and_chart(pages: Pages, tmp_path: Path) -> None:
    first, second = tmp_path / "steady.log", tmp_path / "collapsed.log"
    first.write_text(verl_log(120))
    second.write_text(verl_log(120, seed=7, collapse_at=70))
    page = pages.open()
    attach(page, first, second)
    ask(page, "Which of the two runs is better?")
    answered(page)
    assert "collapsed.log" in page.inner_text(".answer")
    page.click(".answer .figure >> nth=0")
    page.wait_for_selector("#view-chart canvas")
    assert page.locator("#view-chart .legend tbody tr").count() == 2
    assert page.locator('.chart-runs [aria-pressed="true"]').count() == 2
    page.click(".chart-tools .pill")  # log axis
    page.evaluate(
        "const r = document.querySelector('.smooth input'); r.value = 0.8; r.dispatchEvent(new Event('input'))"
    )
    page.focus(".plot")
    for key in ("+", "ArrowRight", "-", "0"):
        page.keyboard.press(key)
    page.wait_for_selector("#view-chart canvas")
    page.click(".chart-runs .pill >> nth=1")
    until(lambda: page.locator("#view-chart .legend tbody tr").count() == 1, "one line is left")

    # A finding marks its onset: the chart shows its metrics and the values at that step.
    page.click("#run-pick button")
    page.click('.menu [role="menuitem"] >> text=collapsed.log')
    page.click("#tab-overview")
    page.click(".finding.critical .link")
    page.wait_for_selector("#view-chart canvas")

    def shown() -> int:
        found = re.search(r"\d+", page.inner_text("#view-chart .legend thead .num"))
        return int(found[0]) if found else -1

    until(lambda: 60 <= shown() <= 80, "the values at the onset are shown")


def test_page_answer_is_copied_and_downloaded(pages: Pages) -> None:
    page = pages.open()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.click(".answer .foot-row .icon >> nth=0")
    until(lambda: "8,192" in page.evaluate("navigator.clipboard.readText()"), "the Markdown is in the clipboard")
    page.click(".answer .foot-row .icon >> nth=2")
    with page.expect_download() as download:
        page.click('.menu [role="menuitem"] >> nth=1')
    saved = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert saved["schema"] == "metric-assistant/answer/1"
    page.click("#session-export")
    with page.expect_download() as report:
        page.click('.menu [role="menuitem"] >> nth=0')
    assert "<!doctype html>" in Path(report.value.path()).read_text(encoding="utf-8").lower()


def test_page_ledger_lists_every_fact(pages: Pages, server: Server) -> None:
    page = pages.open()
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.click(".traced")
    session = page.evaluate("location.hash").removeprefix("#/s/")
    answer = server.get(f"/sessions/{session}")["messages"][-1]["answer"]
    assert page.locator(".ledger tbody tr").count() == len(answer["facts"])
    page.click(".ledger a.n >> nth=0")
    page.wait_for_selector("#view-evidence .evidence-head")
    page.click("#view-evidence .inputs a >> nth=0")  # what it was computed from
    page.wait_for_selector("#view-evidence .lines .lit")

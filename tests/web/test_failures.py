"""What the page says when something goes wrong: what to do, what to report, and nothing typed is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Route

from tests.web.logs import verl_log
from tests.web.support import Pages, Server, answered, ask, attach, until
from tests.web.test_looks import serious

FAULT = {
    "type": "about:blank", "title": "internal error", "status": 500, "code": "internal_error",
    "detail": "The server made a mistake; report it with the request id.", "request_id": "4f1c0a9be2d37765",
}  # fmt: skip


def broken(route: Route) -> None:
    """Answers as the server does where it met a mistake of its own."""
    route.fulfill(status=500, content_type="application/problem+json", body=json.dumps(FAULT))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_fault_of_the_server_tells_the_request_id_and_can_be_tried_again(pages: Pages, lang: str) -> None:
    pages.expected += ["500", "Failed to load resource"]
    page = pages.open(lang=lang)
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.route("**/messages", lambda route: broken(route) if route.request.method == "POST" else route.continue_())
    ask(page, "Is this run healthy?")
    page.wait_for_selector('.answer[data-status="failed"] .notice.error')
    told = page.inner_text('.answer[data-status="failed"]')
    assert FAULT["request_id"] in told
    assert ("服务器出了错" in told) == (lang == "zh")
    page.unroute("**/messages")
    page.click('.answer[data-status="failed"] .pill')
    answered(page, 2)


def test_panel_that_cannot_be_filled_tells_the_request_id_and_can_be_tried_again(pages: Pages, tmp_path: Path) -> None:
    pages.expected += ["500", "Failed to load resource"]
    log = tmp_path / "train.log"
    log.write_text(verl_log(30))
    page = pages.open()
    page.route("**/overview?*", broken)
    attach(page, log)
    page.wait_for_selector("#view-overview .notice.error")
    assert str(FAULT["request_id"]) in page.inner_text("#view-overview .notice.error")
    page.click("#tab-metrics")
    page.wait_for_selector("#view-metrics .notice.error")
    page.unroute("**/overview?*")
    page.click("#view-metrics .notice.error .pill")
    page.wait_for_selector("#view-metrics tr[data-key]")
    assert page.locator("#view-metrics .notice.error").count() == 0


def test_title_that_is_too_long_is_said_to_be_and_kept(pages: Pages) -> None:
    page = pages.open()
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.dblclick("#title")
    long = "x" * 201
    page.fill("dialog input", long)
    assert "200" in page.inner_text("dialog .field-note")
    assert serious(page) == []
    page.keyboard.press("Enter")
    assert page.input_value("dialog input") == long
    page.fill("dialog input", long[:-1])
    assert page.inner_text("dialog .field-note") == ""
    page.keyboard.press("Enter")
    until(lambda: page.locator("dialog").count() == 0, "the dialog closes")
    until(lambda: page.inner_text("#title") == long[:-1], "the title is there")


def test_title_that_the_server_refuses_stays_in_its_field(pages: Pages) -> None:
    pages.expected += ["500", "Failed to load resource"]
    page = pages.open()
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.route("**/sessions/*", lambda route: broken(route) if route.request.method == "PATCH" else route.continue_())
    page.dblclick("#title")
    page.fill("dialog input", "Zebra")
    page.keyboard.press("Enter")
    until(lambda: str(FAULT["request_id"]) in page.inner_text("dialog .field-note"), "the error is told")
    assert page.input_value("dialog input") == "Zebra"
    page.unroute("**/sessions/*")
    page.keyboard.press("Enter")
    until(lambda: page.inner_text("#title") == "Zebra", "the title is there")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("empty.log", b"  \n", ("empty_input", "is empty")),
        ("noise.bin", bytes(range(256)) * 20, ("binary_input", "is not text")),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, ("binary_input", "is not text")),
        ("plain.txt", b"hello there\n", ("no_metrics", "holds no metric")),
    ],
)
def test_file_that_cannot_be_read_is_told_why_and_not_ignored(
    pages: Pages, tmp_path: Path, name: str, content: bytes, told: tuple[str, str]
) -> None:
    pages.expected += ["422", "Failed to load resource"]
    file = tmp_path / name
    file.write_bytes(content)
    page = pages.open()
    with page.expect_response("**/runs") as reply:
        page.set_input_files("#files", str(file))
    assert reply.value.json()["code"] == told[0]
    page.wait_for_selector(".chip.error")
    assert told[1] in page.inner_text(".chip.error .chip-note")
    ask(page, "Is this run healthy?")
    page.wait_for_selector("#ask-hint.refused")
    assert name in page.inner_text("#toasts .toast.error")
    assert page.input_value("#ask-text") == "Is this run healthy?"
    assert page.locator(".question").count() == 0
    toast, middle = page.locator("#toasts").bounding_box(), page.locator("#main").bounding_box()
    assert toast
    assert middle
    assert toast["x"] + toast["width"] / 2 == pytest.approx(middle["x"] + middle["width"] / 2, abs=2)
    assert serious(page) == []
    page.click(".chip.error .icon >> nth=1")  # removed, it is asked without it
    until(lambda: page.locator("#ask-hint.refused").count() == 0, "nothing stands in the way")
    page.press("#ask-text", "Enter")
    page.wait_for_selector(".question")


def test_file_name_with_a_quotation_mark_is_shown_as_it_is(pages: Pages, tmp_path: Path) -> None:
    log = tmp_path / 'lr"3e-6".log'
    log.write_text(verl_log(10))
    page = pages.open()
    attach(page, log)
    assert page.inner_text("#run-pick .run-name span") == log.name


def test_session_that_stayed_empty_is_used_again(pages: Pages, server: Server, tmp_path: Path) -> None:
    pages.expected += ["422", "Failed to load resource"]
    file = tmp_path / "plain.txt"
    file.write_text("hello there\n")
    page = pages.open()
    before = {one["id"] for one in server.get("/sessions?limit=200")["sessions"]}
    for turn in range(3):
        page.set_input_files("#files", str(file))
        page.locator(".chip.error").wait_for()
        page.wait_for_selector("#session-list li.here")
        page.click("#new")
        until(lambda: page.evaluate("location.hash") == "", f"turn {turn}: a new session is shown")
        page.wait_for_selector(".chip", state="detached")
    after = {one["id"] for one in server.get("/sessions?limit=200")["sessions"]}
    assert len(after - before) == 1

"""Answers while they are made: streamed, stopped, followed over reloads, restarts and from a second tab."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from assistant.devmodel import DevModel, load_script
from tests.web.support import Pages, Server, answered, ask, until

#: Tells the offline answer piece by piece, over some seconds.
SLOW = {"rules": [{"then": {"behave": "echo", "rate": 12, "chunk": 12}}]}
HEALTH = "Is this run healthy?"


@pytest.fixture(scope="module")
def model() -> Generator[DevModel]:
    with DevModel(load_script(json.dumps(SLOW))) as made:
        yield made


@pytest.fixture(scope="module")
def slow_server(tmp_path_factory: pytest.TempPathFactory, model: DevModel, cache: Path) -> Generator[Server]:
    """The server with a model that takes its time."""
    environment = {
        "ASSISTANT_LLM_MODEL": "dev", "ASSISTANT_LLM_BASE_URL": model.base_url, "ASSISTANT_LLM_API_KEY": "secret",
        "ASSISTANT_LLM_CACHE": "0", "ASSISTANT_SHUTDOWN_SECONDS": "0.5",
    }  # fmt: skip
    made = Server(tmp_path_factory.mktemp("slow"), environment, cache).start()
    yield made
    made.stop()


@pytest.fixture
def slow(slow_server: Server, browser: Browser) -> Generator[Pages]:
    made = Pages(browser, slow_server.url)
    yield made
    made.close()


def begin(pages: Pages) -> Page:
    """A page in which an answer is being streamed."""
    page = pages.open()
    page.click(".welcome .example >> nth=1")
    page.wait_for_selector(".answer[aria-busy] .prose > *:not(.thinking)")
    return page


def test_page_answer_is_streamed_and_names_its_model(slow: Pages) -> None:
    page = begin(slow)
    early = page.inner_text(".answer .prose")
    assert page.is_visible("#stop")
    answered(page)
    assert len(page.inner_text(".answer .prose")) > len(early)
    assert "dev" in page.inner_text(".answer .by")
    assert page.is_visible("#engine")


def test_page_stopped_answer_keeps_what_was_shown(slow: Pages, slow_server: Server) -> None:
    page = begin(slow)
    page.keyboard.press("Escape")
    page.wait_for_selector('.answer[data-status="stopped"]')
    assert page.is_visible("#send")
    assert page.inner_text(".answer .prose") != ""
    session = page.evaluate("location.hash").removeprefix("#/s/")
    assert slow_server.get(f"/sessions/{session}")["messages"][-1]["status"] == "stopped"
    page.reload()
    page.wait_for_selector('.answer[data-status="stopped"]')


def test_page_reloaded_in_mid_answer_goes_on(slow: Pages, slow_server: Server) -> None:
    page = begin(slow)
    page.fill("#ask-text", "half a thought")
    page.reload()
    answered(page)
    assert page.input_value("#ask-text") == "half a thought"
    session = page.evaluate("location.hash").removeprefix("#/s/")
    assert [m["status"] for m in slow_server.get(f"/sessions/{session}")["messages"]] == ["done", "done"]


def test_page_server_killed_in_mid_answer_is_reconnected_and_answers_once(slow: Pages, slow_server: Server) -> None:
    slow.expected += ["ERR_", "Failed to load resource"]
    page = begin(slow)
    page.fill("#ask-text", "typed before the crash")
    slow_server.stop(kill=True)
    page.wait_for_selector("#banner.lost")
    page.wait_for_selector(".reconnecting")
    slow_server.start()
    answered(page)
    until(lambda: page.is_hidden("#banner"), "the banner goes")
    assert page.locator(".reconnecting").count() == 0
    assert page.input_value("#ask-text") == "typed before the crash"
    session = page.evaluate("location.hash").removeprefix("#/s/")
    stored = slow_server.get(f"/sessions/{session}")["messages"]
    assert [(m["role"], m["status"]) for m in stored] == [("user", "done"), ("assistant", "done")]


def test_page_question_sent_while_the_server_is_away_arrives_once(slow: Pages, slow_server: Server) -> None:
    slow.expected += ["ERR_", "Failed to load resource"]
    page = slow.open()
    page.click(".welcome .example >> nth=1")
    answered(page)
    slow_server.stop()
    ask(page, HEALTH)
    page.wait_for_selector("#banner.lost")
    slow_server.start()
    answered(page, 2)
    session = page.evaluate("location.hash").removeprefix("#/s/")
    asked = [m["content"] for m in slow_server.get(f"/sessions/{session}")["messages"] if m["role"] == "user"]
    assert asked.count(HEALTH) == 1


def test_page_edited_question_replaces_what_followed(pages: Pages, server: Server) -> None:
    page = pages.open()
    page.click(".welcome .example >> nth=0")
    answered(page)
    ask(page, "Where does the time go?")
    answered(page, 2)
    page.press("#ask-text", "ArrowUp")  # the last question, in place
    page.wait_for_selector(".editing textarea")
    page.fill(".editing textarea", "How many GPUs, and how large is the batch?")
    page.press(".editing textarea", "Enter")
    page.wait_for_function("() => document.querySelectorAll('.question').length === 2")
    page.wait_for_selector("text=8 GPUs")
    answered(page, 2)
    session = page.evaluate("location.hash").removeprefix("#/s/")
    stored = [m["content"] for m in server.get(f"/sessions/{session}")["messages"] if m["role"] == "user"]
    assert stored[1:] == ["How many GPUs, and how large is the batch?"]
    page.click(".answer .foot-row .icon >> nth=4")  # answer again
    page.wait_for_selector("[aria-busy]", state="attached")
    answered(page, 2)
    assert len(server.get(f"/sessions/{session}")["messages"]) == 4


def test_page_question_edited_before_the_session_was_fetched_anew_is_the_last_one(pages: Pages, server: Server) -> None:
    page = pages.open()
    page.click(".welcome .example >> nth=0")
    answered(page)
    late: list[Route] = []

    def hold(route: Route) -> None:  # what the server lists comes only at the end
        late.append(route)

    page.route(re.compile(r"/sessions/[^/?]+$"), hold)
    ask(page, "Where does the time go?")
    answered(page, 2)
    first = page.locator(".question .bubble-text").nth(0).inner_text()
    page.press("#ask-text", "ArrowUp")
    assert page.input_value(".editing textarea") == "Where does the time go?"
    page.fill(".editing textarea", "How many GPUs, and how large is the batch?")
    page.press(".editing textarea", "Enter")
    page.wait_for_selector("text=8 GPUs")
    answered(page, 2)
    page.locator(".answer").nth(1).get_by_role("button", name="Answer again").click()
    answered(page, 2)
    assert page.locator(".question .bubble-text").all_inner_texts() == [
        first, "How many GPUs, and how large is the batch?",
    ]  # fmt: skip
    assert late
    page.unroute_all()
    session = page.evaluate("location.hash").removeprefix("#/s/")
    assert len(server.get(f"/sessions/{session}")["messages"]) == 4


def test_page_two_tabs_show_the_same_conversation(pages: Pages) -> None:
    page = pages.open()
    page.click(".welcome .example >> nth=0")
    answered(page)
    other = pages.open("/" + page.evaluate("location.hash"), beside=page)
    answered(other)
    ask(page, "Where does the time go?")
    answered(page, 2)
    answered(other, 2)  # without a reload
    ask(other, "How many GPUs, and how large is the batch?")
    answered(other, 3)
    answered(page, 3)
    texts = [one.locator(".question .bubble-text").all_inner_texts() for one in (page, other)]
    assert texts[0] == texts[1]


def test_page_sessions_are_found_renamed_and_deleted(pages: Pages, tmp_path: Path) -> None:
    page = pages.open()
    page.click(".welcome .example >> nth=0")
    answered(page)
    page.wait_for_selector("#session-list li.here")
    page.hover("#session-list li.here")
    page.click("#session-list li.here .more")
    page.click('.menu [role="menuitem"] >> nth=0')
    page.fill("dialog input", "Zebra run")
    page.keyboard.press("Enter")
    page.wait_for_selector("#session-list li.here >> text=Zebra run")
    assert page.inner_text("#title") == "Zebra run"
    page.click("#new")
    page.wait_for_selector(".welcome")
    page.locator("#ask-text").evaluate("node => node.blur()")
    page.keyboard.press("/")
    page.keyboard.type("zebra")
    until(lambda: page.locator("#session-list a").count() == 1, "one session is found")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    answered(page)
    page.hover("#session-list li.here")
    page.click("#session-list li.here .more")
    page.click(".menu .danger")
    page.click("dialog button[value=yes]")
    page.wait_for_selector(".welcome")
    until(lambda: page.locator("#session-list a").count() == 0, "it is gone")


def test_page_list_that_comes_late_does_not_undo_a_search(pages: Pages, server: Server) -> None:
    for title in ("Zebra one", "Yak two"):
        server.post("/sessions", {"title": title})
    page = pages.open()
    page.wait_for_selector("#session-list >> text=Yak two")
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    page.route(re.compile(r"/sessions\?limit=\d+$"), hold)
    page.fill("#session-find", "zzz")
    page.wait_for_selector("#session-list .empty")
    page.fill("#session-find", "")
    until(lambda: page.evaluate("1") and late, "the whole list is asked for")
    page.fill("#session-find", "Zebra one")
    page.wait_for_selector("#session-list >> text=Zebra one")
    with page.expect_response(re.compile(r"/sessions\?limit=\d+$")):
        late[0].continue_()
    assert page.locator("#session-list a .name").all_inner_texts() == ["Zebra one"]
    page.unroute_all()


def test_page_failed_answer_says_what_to_do_and_can_be_tried_again(pages: Pages) -> None:
    pages.expected += ["500", "Failed to load resource"]
    page = pages.open()
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.route(
        "**/messages",
        lambda route: route.fulfill(
            status=500, content_type="application/problem+json",
            body=json.dumps({"code": "internal_error", "detail": "The server made a mistake."}),
        )
        if route.request.method == "POST"
        else route.continue_(),
    )  # fmt: skip
    ask(page, HEALTH)
    page.wait_for_selector('.answer[data-status="failed"] .notice.error')
    assert "The server made a mistake." in page.inner_text('.answer[data-status="failed"]')
    page.unroute("**/messages")
    page.click('.answer[data-status="failed"] .pill')
    answered(page, 2)

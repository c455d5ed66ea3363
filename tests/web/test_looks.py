"""How the page looks and reads: three widths, two languages, two themes, the keyboard, and axe."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.web.logs import verl_log
from tests.web.support import Pages, answered, ask, attach, until

WIDTHS = {"wide": (1440, 900), "middle": (1024, 768), "phone": (390, 844)}

#: Elements whose text is cut although nothing tells so (an ellipsis, a scroll bar).
CLIPPED = """() => {
  const found = [], text = "button, label, h1, h2, h3, h4, dt, dd, th, small, .hint, .badge, .pill";
  const scrollers = ".table, .scroll, .view, .metric-scroll, .session-list, .menu, .lines";
  for (const node of document.querySelectorAll(text)) {
    if (!node.checkVisibility() || node.closest(".sr, [hidden], .side:not(.open)") && innerWidth < 900) continue;
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    if (!box.width || node.closest(".sr")) continue;
    const told = style.textOverflow === "ellipsis" || /auto|scroll|visible/.test(style.overflowX);
    if (!told && node.scrollWidth > node.clientWidth + 1) found.push("cut " + node.outerHTML.slice(0, 120));
    const off = box.right > innerWidth + 1 || box.left < -1;
    if (off && !node.closest(scrollers)) found.push("off " + node.outerHTML.slice(0, 120));
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
  return found;
}"""


def serious(page: Page, within: str = "html") -> list[str]:
    """What axe finds of serious or critical impact in a part of the page."""
    spec = importlib.util.find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    source = Path(spec.submodule_search_locations[0]) / "axe.min.js"
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(source.read_text(encoding="utf-8"))
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    result: dict[str, Any] = page.evaluate(
        "([within, tags]) => axe.run(within, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})",
        [within, tags],
    )
    return [
        f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
        for one in result["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


@pytest.mark.parametrize(
    ("width", "lang", "theme"), [("wide", "zh", "light"), ("middle", "en", "dark"), ("phone", "zh", "dark")]
)
def test_page_views_fit_their_width_and_pass_axe(
    pages: Pages, tmp_path: Path, width: str, lang: str, theme: str
) -> None:
    log, other = tmp_path / "collapsed.log", tmp_path / "steady.log"
    log.write_text(verl_log(60, seed=7, collapse_at=36))
    other.write_text(verl_log(60))
    size = WIDTHS[width]
    page = pages.open(lang=lang, width=size[0], height=size[1], theme=theme)
    assert page.evaluate(CLIPPED) == []
    assert serious(page) == []
    attach(page, log, other)
    ask(page, {"zh": "这次训练正常吗？", "en": "Is this run healthy?"}[lang])
    answered(page)
    page.wait_for_selector(".suggestions button")
    page.click(".traced")
    assert page.evaluate(CLIPPED) == []
    assert serious(page) == []
    if page.is_hidden("#panel"):
        page.click("#panel-open")
    for view, ready in {
        "overview": ".finding", "metrics": "#view-metrics tr[data-key]", "chart": "#view-chart canvas",
        "evidence": "#view-evidence .empty",
    }.items():  # fmt: skip
        page.click(f"#tab-{view}")
        page.wait_for_selector(ready)
        assert page.evaluate(CLIPPED) == [], view
        assert serious(page, "#panel") == [], view
    if width != "wide":
        page.keyboard.press("Escape")
        assert page.is_hidden("#panel")
    page.click(".answer a.n >> nth=0")
    page.wait_for_selector("#view-evidence .evidence-head")
    page.wait_for_selector("#view-evidence .card details, #view-evidence .how dd")
    assert page.evaluate(CLIPPED) == []
    assert serious(page, "#panel") == []


def test_page_menus_and_dialogs_pass_axe(pages: Pages) -> None:
    page = pages.open()
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.click("#attach")
    assert serious(page) == []
    page.keyboard.press("Escape")
    assert page.locator(".menu").count() == 0
    assert page.evaluate("document.activeElement.id") == "attach"
    page.hover("#session-list li.here")
    page.click("#session-list li.here .more")
    page.click(".menu .danger")
    page.wait_for_selector("dialog")
    assert serious(page) == []
    page.keyboard.press("Escape")
    until(lambda: page.locator("dialog").count() == 0, "the dialog closes")


def test_page_language_and_theme_are_switched_and_remembered(pages: Pages) -> None:
    page = pages.open(lang="zh", theme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert page.get_attribute("html", "lang") == "zh-CN"
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.wait_for_selector("#tab-overview >> text=概览")
    page.click('#lang [data-lang="en"]')
    page.wait_for_selector("#tab-overview >> text=Overview")
    page.wait_for_selector("#view-overview dt >> text=Framework")
    page.click('#theme [data-theme-choice="light"]')
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert light != dark
    answered(page)
    page.reload()
    answered(page)
    assert page.get_attribute("html", "lang") == "en"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light
    assert page.locator('#theme [data-theme-choice="light"]').get_attribute("aria-pressed") == "true"
    page.click('#theme [data-theme-choice="auto"]')
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_page_numbers_follow_the_language(pages: Pages) -> None:
    page = pages.open(lang="en")
    told = page.evaluate(
        """async () => {
          const i18n = await import("/static/js/i18n.js");
          const values = [0.000123456, 0.0000123456, -0.25, 1234567, "NaN", null];
          return [...values.map(value => i18n.figure(value)), i18n.bytes(52428800)];
        }"""
    )
    assert told == ["0.0001235", "1.235e-05", "-0.25", "1,234,567", "NaN", "–", "52 MB"]  # the minus of answers


def test_page_keyboard_alone_asks_and_reads(pages: Pages) -> None:
    page = pages.open()
    page.keyboard.press("Tab")  # away from the box and back: order and focus ring
    page.focus(".welcome .example >> nth=1")
    page.keyboard.press("Enter")
    answered(page)
    page.focus("#ask-text")
    page.keyboard.type("first line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second line")
    assert page.input_value("#ask-text") == "first line\nsecond line"
    page.fill("#ask-text", "")
    page.focus(".answer a.n >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector("#view-evidence .evidence-head")
    page.focus("#tab-evidence")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector('#tab-overview[aria-selected="true"]')
    assert page.evaluate("document.activeElement.id") == "tab-overview"
    assert "ready" in page.inner_text("#live").lower()


def test_page_tool_steps_are_folded_with_arguments_and_result(pages: Pages) -> None:
    page = pages.open()
    page.evaluate(
        """async () => {
          const { AnswerView } = await import("/static/js/message.js");
          const view = new AnswerView({ id: "m", status: "pending" }, {});
          document.getElementById("thread").append(view.node);
          view.step({ id: "1", name: "get_values", arguments: { metric: "actor/<b>entropy</b>" } });
          view.step({ id: "1", name: "get_values", result: { values: [0.5] } });
        }"""
    )
    assert page.inner_text(".steps > summary") == "Used 1 tool"
    assert page.locator(".steps li pre").first.is_hidden()
    page.click(".steps > summary")
    page.click(".steps li summary")
    assert "actor/<b>entropy</b>" in page.inner_text(".steps li pre >> nth=0")
    assert "0.5" in page.inner_text(".steps li pre >> nth=1")


def test_page_withheld_sentences_are_said(pages: Pages) -> None:
    page = pages.open()
    page.evaluate(
        """async () => {
          const { AnswerView } = await import("/static/js/message.js");
          const view = new AnswerView({ id: "m", status: "done" }, {});
          document.getElementById("thread").append(view.node);
          const grounding = { numbers: 3, supported: 2, unsupported: ["It rose to 7."] };
          view.finish({ answer: "It is fine.", facts: [], grounding, engine: "llm", usage: { model: "m" } }, null);
        }"""
    )
    assert "2 of 3 numbers traced" in page.inner_text(".answer .traced")
    assert "1 sentence withheld" in page.inner_text(".answer .notice.warning summary")
    page.click(".answer .notice.warning summary")
    assert "It rose to 7." in page.inner_text(".answer .notice.warning")

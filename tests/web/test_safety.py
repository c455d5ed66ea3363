"""Hostile text in logs, keys, file names and documents is shown as text and never run; no other host is asked."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

from playwright.sync_api import Browser, Page, Route

from tests.web.logs import verl_log
from tests.web.support import PATIENCE, Pages, Server, answered, ask, attach, paste

MARK = "window.__ran=(window.__ran||0)+1"
#: Ways in which markup, a link or an event handler is known to run a script or fetch something.
SHAPES = [
    "<script>{js}</script>", "<img src=x onerror={js}>", "<svg onload={js}>", "<svg><script>{js}</script></svg>",
    "<body onload={js}>", "<iframe srcdoc='<script>parent.{js}</script>'>", "<iframe src=javascript:{js}>",
    "<a href=javascript:{js}>x</a>", "<input autofocus onfocus={js}>", "<details open ontoggle={js}>",
    "<video><source onerror={js}></video>", "<math><mi xlink:href=javascript:{js}>", "<object data=javascript:{js}>",
    "<embed src=javascript:{js}>", "<form action=javascript:{js}><button>x</button></form>",
    "<style>@import 'http://evil.example/x.css';</style>", "<link rel=stylesheet href=http://evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>", "<base href=http://evil.example/>",
    "<img src=http://evil.example/x.png>", "![x](http://evil.example/x.png)", "[x](javascript:{js})",
    "[x](JaVaScRiPt:{js})", "[x](data:text/html,<script>{js}</script>)", "<javascript:{js}>",
    "[x]: javascript:{js}", "`</code><script>{js}</script>`", "**</strong><img src=x onerror={js}>**",
    "</textarea><script>{js}</script>", "</title><script>{js}</script>", "--><script>{js}</script>",
    "]]><script>{js}</script>", "'\"><script>{js}</script>", "\" onmouseover={js} x=\"", "' autofocus onfocus={js} x='",
    "{{constructor.constructor('{js}')()}}", "${{{js}}}", "<template><script>{js}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={js}>'>", "<a href='\x01javascript:{js}'>x</a>",
    "\ue000E1\ue001<img src=x onerror={js}>\ue002", "<x-y onclick={js}>", "<marquee onstart={js}>",
    "<audio src=http://evil.example/a.mp3 autoplay>", "<picture><source srcset=http://evil.example/p.png></picture>",
    "<svg><image href=http://evil.example/i.png></svg>",
    "<svg><use href='data:image/svg+xml,<svg onload={js}>'/></svg>",
    "<div style='background:url(http://evil.example/b.png)'>", "<img src=x: onerror&#61;{js}>",
    "&lt;script&gt;{js}&lt;/script&gt;",
]  # fmt: skip
STRINGS = [
    shape.replace("{js}", js).replace("evil.", f"evil{len(js)}.")
    for shape, js in itertools.product(SHAPES, [MARK, "alert(1)"])
]
LIVE = "script, iframe, object, embed, style, link, base, meta, form[action], img, svg image, [onerror], [onload]"


def test_strings_are_a_hundred_and_all_different() -> None:
    assert len(set(STRINGS)) == len(STRINGS) == 100


HARM = """([holders, live]) => {
  const all = [...document.querySelectorAll(holders)];
  const alive = all.flatMap(node => [...node.querySelectorAll(live)]).map(node => node.outerHTML.slice(0, 200));
  const links = all.flatMap(node => [...node.querySelectorAll("a")]).map(node => node.getAttribute("href"));
  return [window.__ran || 0, alive, links.filter(link => link !== null && !/^(#|https?:)/i.test(link))];
}"""
INSIDE = "#thread, #panel, #session-list, #chips, #title, #toasts, .menu"


def unharmed(page: Page) -> None:
    """Nothing ran, and nothing that could run or fetch stands where text is shown."""
    assert page.evaluate(HARM, [INSIDE, LIVE]) == [0, [], []]


def test_page_hostile_strings_in_log_key_and_file_name_are_text(pages: Pages, tmp_path: Path) -> None:
    lines = verl_log(8).splitlines()
    for place, text in enumerate(STRINGS):
        lines.append(f"INFO {text}")
        lines[place % 8] += f" - {text.replace(' ', '_').replace(':', ';')}{place}:{place}.5"
    name = "<img src=x onerror=" + MARK + ">.log"
    log = tmp_path / "plain.log"
    log.write_text("\n".join(lines), encoding="utf-8")
    hostile = tmp_path / name
    hostile.write_bytes(log.read_bytes())
    page = pages.open()
    attach(page, hostile)
    unharmed(page)
    assert "<img src=x" in page.inner_text(".chip-name")
    ask(page, "Explain everything at step 3")
    answered(page)
    unharmed(page)
    for tab in ("metrics", "chart", "evidence", "overview"):
        page.click(f"#tab-{tab}")
        page.wait_for_function("tab => document.querySelector('#view-' + tab).childElementCount > 0", arg=tab)
        unharmed(page)
    page.click(".answer a.n >> nth=0")
    page.wait_for_selector("#view-evidence .evidence-head")
    unharmed(page)


def test_page_hostile_strings_in_questions_and_titles_are_text(pages: Pages, server: Server) -> None:
    pages.expected.append("422")  # the last paste holds no metric
    page = pages.open()
    ask(page, "\n".join(STRINGS[:60]))
    answered(page)
    page.click(".question .link")
    unharmed(page)
    session = page.evaluate("location.hash").removeprefix("#/s/")
    for text in STRINGS[60:64]:
        server.post(f"/sessions/{session}/messages", {"content": text, "lang": "en", "engine": "offline"})
    page.reload()
    answered(page, 5)
    unharmed(page)
    paste(page, "x " * 11_000 + "".join(STRINGS))
    page.wait_for_selector(".chip")
    unharmed(page)


def test_page_hostile_strings_in_rendered_markdown_are_text(pages: Pages, server: Server) -> None:
    """What a document or a model may bring into an answer: through the server's Markdown and into the page."""
    one = {"start": 6, "end": 9, "fact": "E1"}
    texts = [f"Value 0.5 {text}\n\n| a | {text} |\n| - | - |\n| {text} | `{text}` |" for text in STRINGS]
    pieces = [{"text": text, "mentions": [one]} for text in texts]
    rendered = server.post("/page/render", {"pieces": pieces})["html"]
    page = pages.open()
    shown = page.evaluate(
        """async list => {
          const { taken, small } = await import("/static/js/markdown.js");
          const thread = document.getElementById("thread");
          for (const [html, text] of list) {
            const box = document.createElement("div");
            box.append(taken(html), small(text));
            thread.append(box);
          }
          return thread.querySelectorAll('a.n[data-fact="E1"]').length;
        }""",
        list(zip(rendered, texts, strict=True)),
    )
    assert shown == len(STRINGS)
    for one in page.locator("#thread a.out").all():
        target = one.get_attribute("href") or ""
        around = one.evaluate("node => node.parentElement.textContent")
        assert target in around, "a link shows where it goes"
        assert one.get_attribute("rel") == "noopener noreferrer nofollow"
    page.wait_for_timeout(300)  # event handlers, had any been kept, run after a turn of the loop
    unharmed(page)


def test_page_faulty_server_html_runs_nothing(pages: Pages) -> None:
    """Even if the server's HTML were not safe, the page takes only what it knows."""
    pages.expected.append("Content Security Policy")  # of the parsing, which runs and loads nothing
    page = pages.open()
    page.evaluate(
        """async list => {
          const { taken } = await import("/static/js/markdown.js");
          for (const html of list) document.getElementById("thread").append(taken(html));
        }""",
        STRINGS,
    )
    page.wait_for_timeout(300)
    unharmed(page)


def test_page_hostile_document_is_text(pages: Pages, server: Server) -> None:
    """A team's own definition with markup in it, as the panel shows a card."""
    page = pages.open()
    body = {
        "card": "own/x", "title": {"en": STRINGS[0], "zh": STRINGS[0]}, "short": {"en": STRINGS[1], "zh": STRINGS[1]},
        "keys": STRINGS[2:5], "formula": STRINGS[5], "unit": STRINGS[6], "source": STRINGS[7],
        "text": {lang: {text: text for text in STRINGS[8:40]} for lang in ("zh", "en")},
    }  # fmt: skip
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.route("**/metrics-docs/**", lambda route: route.fulfill(json=body))
    page.click(".answer .sources a >> nth=0")
    page.wait_for_selector("#view-evidence .card details")
    unharmed(page)


def test_page_policy_allows_this_host_alone(server: Server) -> None:
    import urllib.request

    with urllib.request.urlopen(server.url + "/") as reply:
        policy = reply.headers["content-security-policy"]
        html = reply.read().decode()
    assert "default-src 'none'" in policy
    for unsafe in ("unsafe-inline", "unsafe-eval", "http:", "https:", "*"):
        assert unsafe not in policy
    assert "<style" not in html
    assert "style=" not in html
    assert " on" not in html.replace(" one", "").replace(" only", "").split("<body>")[0]
    for name in ("js/main.js", "css/base.css", "vendor/uPlot.iife.min.js", "strings/zh.json"):
        with urllib.request.urlopen(f"{server.url}/static/{name}") as reply:
            assert reply.headers["content-security-policy"] == policy
            assert "http://" not in reply.read().decode().replace("http://www.w3.org", "").replace("http://127", "")


def test_page_asks_nothing_of_another_host(pages: Pages, tmp_path: Path) -> None:
    """The pages' fixture fails on any such request; here, everything is opened once, fonts and pictures included."""
    log = tmp_path / "a.log"
    log.write_text(verl_log(20))
    page = pages.open(lang="zh")
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    attach(page, log)
    ask(page, "这次训练正常吗？")
    answered(page)
    for tab in ("metrics", "chart", "evidence"):
        page.click(f"#tab-{tab}")
    page.wait_for_timeout(500)
    assert seen
    assert all(url.startswith(pages.url + "/") for url in seen), json.dumps(seen)


def test_page_access_key_is_asked_for_once_and_sent_from_then_on(server: Server, browser: Browser) -> None:
    context = browser.new_context(locale="en-US", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    sent: list[str] = []

    def gate(route: Route) -> None:
        key = route.request.headers.get("authorization", "")
        sent.append(key)
        if key == "Bearer right":
            route.continue_()
        else:
            route.fulfill(status=401, json={"code": "key_needed", "detail": "A valid access key is needed."})

    page.route(re.compile("/sessions|/page/"), gate)
    page.goto(server.url)
    page.fill("dialog input", "right")
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-ready]")
    assert page.locator("dialog").count() == 0
    sent.clear()
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert set(sent) == {"Bearer right"}
    context.close()

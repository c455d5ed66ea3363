"""The pictures of the page in `docs/images`: `python tools/screenshots.py`; Debian's Chromium draws them.

zh light, en dark, phone, two runs in the chart. The server is a real one over an empty folder; the logs are made by
arithmetic (`tests/web/logs.py`), the example is the bundled one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, sync_playwright  # noqa: E402

from tests.web.logs import verl_log  # noqa: E402
from tests.web.support import BROWSER, Server, answered, ask, attach  # noqa: E402

IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 250_000
#: A bare Debian calls DejaVu its interface font; people's systems have better ones.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<selectfont><rejectfont><pattern><patelt name="family"><string>DejaVu Sans</string></patelt></pattern>
</rejectfont></selectfont>
<match target="pattern"><test name="family"><string>sans-serif</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Noto Sans CJK SC</string></edit></match>
<match target="pattern"><test name="family"><string>system-ui</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Noto Sans CJK SC</string></edit></match>
<match target="pattern"><test name="family"><string>ui-monospace</string></test>
<edit name="family" mode="prepend" binding="strong"><string>DejaVu Sans Mono</string></edit></match>
</fontconfig>"""


def opened(browser: Any, url: str, *, lang: str, theme: str, size: tuple[int, int], scale: float) -> Page:
    """A page that is ready, its banner seen."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, locale=lang, color_scheme=theme, device_scale_factor=scale,
        reduced_motion="reduce", timezone_id="Asia/Shanghai", has_touch=size[0] < 500, is_mobile=size[0] < 500,
    )  # fmt: skip
    context.add_init_script("localStorage.setItem('no-model', 'seen')")
    page: Page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    return page


def settled(page: Page) -> None:
    """Waits until nothing moves or loads."""
    page.wait_for_load_state("networkidle")
    page.evaluate("() => { document.activeElement?.blur(); return document.fonts.ready.then(() => true); }")
    page.wait_for_timeout(300)


def take(page: Page, name: str, folder: Path) -> None:
    """One picture."""
    settled(page)
    path = folder / f"{name}.png"
    page.screenshot(path=path)
    size = path.stat().st_size
    print(f"{path}  {size // 1000} kB{'  TOO LARGE' if size > MOST_BYTES else ''}")


def draw(browser: Any, url: str, logs: Path, folder: Path) -> None:
    """All pictures."""
    steady, collapsed = logs / "grpo-baseline.log", logs / "grpo-lr-3e-6.log"
    steady.write_text(verl_log(300))
    collapsed.write_text(verl_log(300, seed=7, collapse_at=190))

    page = opened(browser, url, lang="zh-CN", theme="light", size=(1440, 800), scale=1)
    attach(page, collapsed)
    ask(page, "这次训练正常吗？")
    answered(page)
    page.wait_for_selector(".suggestions button")
    take(page, "page-zh-light", folder)

    page = opened(browser, url, lang="en-US", theme="dark", size=(1440, 800), scale=1)
    page.click(".welcome .example >> nth=0")
    answered(page)
    page.click(".answer a.n >> nth=1")
    page.wait_for_selector("#view-evidence .lines .lit mark")
    page.wait_for_selector("#view-evidence .card details")
    take(page, "page-en-dark", folder)

    page = opened(browser, url, lang="zh-CN", theme="light", size=(390, 844), scale=2)
    page.tap(".welcome .example >> nth=1")
    answered(page)
    take(page, "page-phone", folder)

    page = opened(browser, url, lang="en-US", theme="light", size=(1440, 800), scale=1)
    attach(page, collapsed, steady)
    ask(page, "Which of the two runs is better?")
    answered(page)
    page.click("#tab-overview")
    page.click(".finding.critical .link")
    page.wait_for_selector("#view-chart canvas")
    for name in ("actor/pg_clipfrac", "actor/grad_norm"):
        page.click(f'.chart-chip:has-text("{name}") button')
    page.click(".chart-runs .pill >> nth=1")
    page.click("#panel .only-wide")
    page.evaluate(
        "const r = document.querySelector('.smooth input'); r.value = .7; r.dispatchEvent(new Event('input'))"
    )
    page.wait_for_selector("#view-chart canvas")
    take(page, "page-compare", folder)


def main() -> int:
    """Writes the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=IMAGES)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    program = shutil.which("chromium")
    if program is None:
        print("chromium is not installed", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "fonts.conf").write_text(FONTS)
        server = Server(folder / "served").start()
        try:
            with sync_playwright() as playwright:
                environment = {**os.environ, "FONTCONFIG_FILE": str(folder / "fonts.conf")}
                browser = playwright.chromium.launch(executable_path=program, args=BROWSER, env=environment)
                draw(browser, server.url, folder, options.folder)
                browser.close()
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())

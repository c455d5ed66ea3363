"""How fast the chat page is, by the browser's own timing: `python tools/bench_page.py`; nothing is asserted.

The server is a real one on loopback with an empty folder, the browser Debian's Chromium without a GPU.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from tests.web.logs import verl_log  # noqa: E402
from tests.web.support import BROWSER, Server, answered, attach  # noqa: E402

TARGET_READY_MS, TARGET_WORDS_MS, TARGET_TASK_MS = 1500, 500, 50
POINTS = 10_000
METRICS = ("actor/entropy", "critic/score/mean", "actor/grad_norm", "response_length/mean", "actor/pg_clipfrac")

#: From Enter to the first words of the answer on the screen.
WATCH = """() => {
  const thread = document.getElementById("thread");
  document.getElementById("ask-text").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const began = performance.now();
    new MutationObserver((_, observer) => {
      const last = [...thread.querySelectorAll(".answer .prose")].at(-1);
      if (!last || last.querySelector(".thinking") || !last.textContent.trim()) return;
      observer.disconnect();
      requestAnimationFrame(() => { window.__words = performance.now() - began; });
    }).observe(thread, { childList: true, subtree: true, characterData: true });
  }, { capture: true });
}"""

#: Pans and zooms by frames, as a finger does, and gathers the tasks over 50 ms and the time of each frame.
PAN = """async () => {
  const long = [];
  const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => entry.duration)));
  observer.observe({ type: "longtask" });
  const plot = document.querySelector(".plot"), frames = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  plot.focus();
  for (let n = 0; n < 3; n += 1) { plot.dispatchEvent(new KeyboardEvent("keydown", { key: "+" })); await frame(); }
  long.length = 0;
  let last = performance.now();
  for (let n = 0; n < 120; n += 1) {
    plot.dispatchEvent(new KeyboardEvent("keydown", { key: n % 40 < 20 ? "ArrowRight" : "ArrowLeft" }));
    await frame();
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  observer.disconnect();
  return { long, frames };
}"""


def fresh(browser: Browser, url: str) -> Page:
    """A page of a visitor who was never here."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-US", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(180_000)
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    return page


def ready(browser: Browser, url: str) -> float:
    """Milliseconds from navigation until the page can be used."""
    page = fresh(browser, url)
    found: float = page.evaluate("performance.getEntriesByName('ready')[0].startTime")
    page.context.close()
    return found


def words(browser: Browser, url: str, question: str) -> float:
    """Milliseconds from Enter to the first words of an offline answer about the example."""
    page = fresh(browser, url)
    page.click(".welcome .example >> nth=1")
    answered(page)
    page.evaluate(WATCH)
    page.fill("#ask-text", question)
    page.press("#ask-text", "Enter")
    answered(page, 2)
    found: float = page.evaluate("window.__words")
    page.context.close()
    return found


def panning(browser: Browser, url: str, folder: Path) -> dict[str, Any]:
    """Long tasks and frame times while a chart of 10,000 points × 5 metrics is moved."""
    log = folder / "long.log"
    log.write_text(verl_log(POINTS))
    page = fresh(browser, url)
    attach(page, log)
    page.click("#tab-chart")
    page.wait_for_selector("#view-chart canvas")
    for key in METRICS:
        page.fill(".chart-pick input", key)
        page.press(".chart-pick input", "Enter")
        page.wait_for_selector(f'#view-chart .legend code:text-is("{key}")')
    found: dict[str, Any] = page.evaluate(PAN)
    page.context.close()
    return found


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    program = shutil.which("chromium")
    if program is None:
        print("the page: chromium is not installed", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(folder / "served").start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=program, args=BROWSER)
                starts = [ready(browser, server.url) for _ in range(options.runs)]
                asked = [words(browser, server.url, "Where does the time go?") for _ in range(options.runs)]
                moved = panning(browser, server.url, folder)
                browser.close()
        finally:
            server.stop()
    frames = sorted(moved["frames"])
    figures = {
        "page_ready_ms": statistics.median(starts),
        "first_words_ms": statistics.median(asked),
        "pan_longest_task_ms": max(moved["long"], default=0.0),
        "pan_long_tasks": len(moved["long"]),
        "pan_frame_p95_ms": frames[int(0.95 * len(frames))],
    }
    if options.json:
        print(json.dumps(figures))
        return 0
    print(f"page ready                      {figures['page_ready_ms']:7.0f} ms   (target {TARGET_READY_MS})")
    print(f"first words after Enter         {figures['first_words_ms']:7.0f} ms   (target {TARGET_WORDS_MS})")
    longest = figures["pan_longest_task_ms"]
    told = f"longest {longest:.0f} ms" if longest else "none"
    print(
        f"pan, {POINTS:,} × {len(METRICS)}: tasks over {TARGET_TASK_MS} ms: {figures['pan_long_tasks']} "
        f"({told}; target none), 95% of frames within {figures['pan_frame_p95_ms']:.0f} ms"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

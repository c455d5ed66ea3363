"""Markdown of answers as HTML: numbers are elements, markup is text, links show their target."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from assistant.web.rendering import answer_html


def mention(text: str, piece: str, fact: str) -> dict[str, object]:
    at = text.index(piece)
    return {"start": at, "end": at + len(piece), "fact": fact}


def test_answer_html_makes_a_stated_number_an_element() -> None:
    text = "熵为 **0.156**（`actor/entropy`）"
    html = answer_html(text, [mention(text, "0.156", "E3")])
    assert '<strong><a class="n" href="#E3" data-fact="E3">0.156</a></strong>' in html


def test_answer_html_counts_characters_beyond_the_basic_plane_once() -> None:
    text = "🙂🙂 0.5"
    html = answer_html(text, [mention(text, "0.5", "E1")])
    assert '<a class="n" href="#E1" data-fact="E1">0.5</a>' in html


def test_answer_html_of_a_number_in_a_table_and_in_code() -> None:
    text = "| a | b |\n| - | - |\n| 0.5 | `0.25` |"
    html = answer_html(text, [mention(text, "0.5", "E1"), mention(text, "0.25", "E2")])
    assert '<td><a class="n" href="#E1" data-fact="E1">0.5</a></td>' in html
    assert '<code><a class="n" href="#E2" data-fact="E2">0.25</a></code>' in html


def test_answer_html_references_only_known_cards() -> None:
    html = answer_html("a [K1] b [K2]", (), [{"id": "K1", "card": 'x"><script>'}])
    assert '<a class="k" href="#K1" data-card="x&quot;&gt;&lt;script&gt;">K1</a>' in html
    assert "[K2]" in html


def test_answer_html_overlapping_and_broken_mentions_are_left_out() -> None:
    text = "0.5 and 0.6"
    wrong = [
        {"start": 0, "end": 3, "fact": "E1"}, {"start": 2, "end": 5, "fact": "E2"},
        {"start": 8, "end": 99, "fact": "E3"}, {"start": 8, "end": 11, "fact": 'E4" onclick="x'},
    ]  # fmt: skip
    assert re.findall(r'data-fact="(\w+)"', answer_html(text, wrong)) == ["E1"]


def test_answer_html_link_shows_its_target() -> None:
    html = answer_html("[safe](https://evil.example/a?b=1) <https://shown.example>")
    assert '<span class="target">(https://evil.example/a?b=1)</span>' in html
    assert html.count('class="target"') == 1
    assert html.count('rel="noopener noreferrer nofollow"') == 2


def test_answer_html_knows_no_images_and_no_other_schemes() -> None:
    html = answer_html("![x](https://e.example/x.png) [a](javascript:alert(1)) [b](data:text/html,x) [c](file:///etc)")
    assert "<img" not in html
    assert re.findall(r'href="([^"]*)"', html) == ["https://e.example/x.png"]


@given(st.text(max_size=200), st.lists(st.tuples(st.integers(0, 220), st.integers(0, 220)), max_size=8))
def test_answer_html_has_no_element_that_it_does_not_make(text: str, places: list[tuple[int, int]]) -> None:
    html = answer_html(text, [{"start": a, "end": b, "fact": f"E{n}"} for n, (a, b) in enumerate(places)])
    names = {name.lower() for name in re.findall(r"<\s*/?\s*([a-zA-Z][\w-]*)", html)}
    known = "a p strong em code pre ul ol li blockquote hr br h1 h2 h3 h4 h5 h6 table thead tbody tr th td s span"
    assert names <= set(known.split())
    assert not re.search(r"<[^>]+\son\w+\s*=", html)

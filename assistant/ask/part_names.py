"""Words that are a part of the name beside them, and name no metric of their own."""

from __future__ import annotations

import re

from assistant.knowledge import Mentioned

_OWNER = re.compile(r"(?i)(?:responses?|answers?|completions?|outputs?|回答|回复|响应)")
_LENGTH = re.compile(r"(?i)\blen|\blong|short|tokens?\b|长|短|字")
_OF_SAMPLES = re.compile(r"/(?:maj|best|worst|std|pass)@")
_ACCURACY = re.compile(r"(?i)acc(?:uracy)?|准确率|正确率")


def owned_lengths(text: str, found: list[Mentioned]) -> list[Mentioned]:
    """Without the length that "responses" alone seems to name beside a metric of theirs: "clip ratio of responses"."""
    theirs = [m for m in found if m.key is not None and re.search(r"clip_ratio|clipped_ratio|truncat|aborted", m.key)]
    theirs = [m for m in theirs if re.search(r"(?i)ratio|rate|frac|比", m.text)]
    if not theirs or _LENGTH.search(text):
        return found
    return [m for m in found if m in theirs or _OWNER.fullmatch(m.text) is None]


def told_apart(text: str, found: list[Mentioned]) -> list[Mentioned]:
    """Without the accuracy that "acc" seems to name behind the statistic that is asked for: "maj@30 acc"."""
    theirs = [m for m in found if m.key is not None and _OF_SAMPLES.search(m.key)]
    return [
        m for m in found
        if m in theirs or not _ACCURACY.fullmatch(m.text)
        or not any(re.fullmatch(r"(?:@\d+)?(?:/\w+)?\s*的?\s*", text[one.end : m.start]) for one in theirs)
    ]  # fmt: skip

"""How often one client may call: a token bucket for each."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from assistant.api.problems import ApiError

MOST_CLIENTS = 10_000


class RateLimited(ApiError):
    """A client calls too often."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(
            429, "rate_limited",
            f"请求太频繁，请 {retry_after} 秒后再试。", f"Too many requests: try again in {retry_after} s.",
            retry_after=retry_after,
        )  # fmt: skip

    def __reduce__(self) -> tuple[type[RateLimited], tuple[int]]:
        return RateLimited, (self.extra["retry_after"],)


class Buckets:
    """A bucket of tokens for each client, refilled steadily.

    Args:
        rate: tokens a second; 0 for no limit.
        burst: tokens that a bucket holds.
        clock: seconds that only go forward.
    """

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self.clock = rate, burst, clock
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when they were counted

    def take(self, client: str) -> None:
        """Takes a token of a client.

        Raises:
            RateLimited: its bucket is empty.
        """
        if self.rate <= 0:
            return
        now = self.clock()
        tokens, counted = self._held.pop(client, (float(self.burst), now))
        tokens = min(float(self.burst), tokens + (now - counted) * self.rate)
        enough = tokens >= 1
        self._held[client] = (tokens - 1 if enough else tokens, now)
        if len(self._held) > MOST_CLIENTS:  # the one that called longest ago has a full bucket, most likely
            self._held.popitem(last=False)
        if not enough:
            raise RateLimited(max(1, math.ceil((1 - tokens) / self.rate)))

"""Adaptive concurrency: how many requests a server is asked to bear at once.

Starts at `start`, grows by one for each full round of successes, and shrinks to 0.8 of itself once
per rate-limit episode: further rejections within the cooldown belong to the same episode. A
Retry-After holds back every new request until it has passed.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

__all__ = ["AdaptiveLimit"]

_SHRINK = 0.8


class AdaptiveLimit:
    """A semaphore whose size follows the server.

    Args:
        start: Requests at once to begin with.
        floor: Never fewer than this.
        ceiling: Never more than this.
        cooldown: Seconds after a shrink during which further rejections do not shrink again.
        clock: Monotonic seconds; tests pass their own.
    """

    def __init__(
        self,
        start: int = 20,
        floor: int = 1,
        ceiling: int = 100,
        cooldown: float = 15.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not 1 <= floor <= ceiling:
            raise ValueError(f"expected 1 <= floor <= ceiling, got {floor} and {ceiling}")
        self._size = float(min(max(start, floor), ceiling))
        self._floor, self._ceiling, self._cooldown = floor, ceiling, cooldown
        self._clock = clock
        self._active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._shrunk_at = -float("inf")
        self._not_before = -float("inf")
        self.episodes = 0
        """Rate-limit episodes met so far."""

    @property
    def size(self) -> int:
        """Requests that may be under way at once, now."""
        return int(self._size)

    async def acquire(self) -> None:
        """Wait for a free place."""
        while (pause := self._not_before - self._clock()) > 0:
            await asyncio.sleep(pause)
        if self._active < self.size and not self._waiting:
            self._active += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            self._abandon(place)
            raise

    def release(self) -> None:
        """Give the place back."""
        self._active -= 1
        self._admit()

    def succeeded(self) -> None:
        """Count a success: a full round of them makes room for one more."""
        self._size = min(self._size + 1.0 / self.size, self._ceiling)
        self._admit()

    def rate_limited(self, retry_after: float | None = None) -> None:
        """Count a rejection: shrink once per episode, and hold back until `retry_after`."""
        now = self._clock()
        if retry_after is not None:
            self._not_before = max(self._not_before, now + retry_after)
        if now - self._shrunk_at >= self._cooldown:
            self._shrunk_at = now
            self._size = max(self._size * _SHRINK, self._floor)
            self.episodes += 1

    def _admit(self) -> None:
        while self._waiting and self._active < self.size:
            place = self._waiting.popleft()
            if not place.done():
                self._active += 1
                place.set_result(None)

    def _abandon(self, place: "asyncio.Future[None]") -> None:
        if place.done() and not place.cancelled():
            self.release()
        elif place in self._waiting:
            self._waiting.remove(place)

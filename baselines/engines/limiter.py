"""Adaptive limit of concurrent requests to a server.

The limit starts at `start`, grows by one per full round of successes, and shrinks by a factor of
0.8 once per rate-limit episode; further rejections within the cooldown belong to the same episode.
A Retry-After delays all new requests.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

__all__ = ["AdaptiveLimit"]

_SHRINK = 0.8


class AdaptiveLimit:
    """A semaphore whose size adapts to the server.

    Args:
        start: Initial size.
        floor: Minimum size.
        ceiling: Maximum size.
        cooldown: Seconds after a reduction during which rejections do not reduce the size again.
        clock: Monotonic clock, in seconds.
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
        """Number of rate-limit episodes so far."""

    @property
    def size(self) -> int:
        """Maximum number of concurrent requests at present."""
        return int(self._size)

    async def acquire(self) -> None:
        """Wait for a free slot."""
        while (pause := self._not_before - self._clock()) > 0:
            await asyncio.sleep(pause)
        if self._active < self.size and not self._waiting:
            self._active += 1
            return
        slot = asyncio.get_running_loop().create_future()
        self._waiting.append(slot)
        try:
            await slot
        except asyncio.CancelledError:
            self._abandon(slot)
            raise

    def release(self) -> None:
        """Return a slot."""
        self._active -= 1
        self._admit()

    def succeeded(self) -> None:
        """Count a success; a full round of successes increases the size by one."""
        self._size = min(self._size + 1.0 / self.size, self._ceiling)
        self._admit()

    def rate_limited(self, retry_after: float | None = None) -> None:
        """Count a rejection: shrink once per episode, and delay requests by `retry_after`."""
        now = self._clock()
        if retry_after is not None:
            self._not_before = max(self._not_before, now + retry_after)
        if now - self._shrunk_at >= self._cooldown:
            self._shrunk_at = now
            self._size = max(self._size * _SHRINK, self._floor)
            self.episodes += 1

    def _admit(self) -> None:
        while self._waiting and self._active < self.size:
            slot = self._waiting.popleft()
            if not slot.done():
                self._active += 1
                slot.set_result(None)

    def _abandon(self, slot: "asyncio.Future[None]") -> None:
        if slot.done() and not slot.cancelled():
            self.release()
        elif slot in self._waiting:
            self._waiting.remove(slot)

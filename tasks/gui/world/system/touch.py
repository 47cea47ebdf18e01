"""Raw touches: a finger that goes down, moves and is lifted becomes a tap, a press or a swipe."""

from hexathlon.tasks.gui.world.system.phone import Phone, PhoneRefusal

__all__ = ["LONG_PRESS_FRAMES", "TouchPad"]

LONG_PRESS_FRAMES = 5
"""Number of frames after which a still finger counts as a long press."""

_SLOP_UNITS = 10
"""Distance that a finger may move without swiping, in units of 1/360 of the screen's width."""


class TouchPad:
    """Recognises the gestures of one finger.

    Args:
        phone: The phone that is touched.
    """

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self._slop = _SLOP_UNITS * phone.appearance.size[0] // 360
        self._start: tuple[int, int] | None = None
        self._last = (0, 0)
        self._frames = 0

    @property
    def down(self) -> bool:
        """Whether the finger is on the screen."""
        return self._start is not None

    def frame(self, x: int, y: int, down: bool) -> str:
        """Process the position of the finger at one moment.

        Args:
            x: Pixels from the left; on lifting, the last position counts.
            y: Pixels from the top.
            down: Whether it touches the screen.

        Returns:
            The gesture that ended at this moment: `tap`, `long_press` or `swipe`; empty if none
            did.
        """
        if down:
            if self._start is None:
                self._start, self._frames = (x, y), 0
            self._last = (x, y)
            self._frames += 1
            return ""
        if self._start is None:
            return ""
        (x0, y0), (x1, y1), self._start = self._start, self._last, None
        self.phone.begin_action()
        try:
            return self._gesture(x0, y0, x1, y1)
        except PhoneRefusal:
            return ""  # a key without a field does nothing, as on a phone
        finally:
            self.phone.end_action()

    def _gesture(self, x0: int, y0: int, x1: int, y1: int) -> str:
        if max(abs(x1 - x0), abs(y1 - y0)) > self._slop:
            self.phone.swipe(x0, y0, x1, y1)
            return "swipe"
        if self._frames >= LONG_PRESS_FRAMES:
            self.phone.long_press_at(x0, y0)
            return "long_press"
        self.phone.tap_at(x0, y0)
        return "tap"

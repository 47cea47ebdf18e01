"""The days: which kinds of tickets arrive; their order is drawn."""

from collections.abc import Callable

from hexathlon.tasks.terminal.draft import TerminalDraft, template
from hexathlon.tasks.terminal.templates.shifts.day import compose_day
from hexathlon.tasks.terminal.templates.shifts.frames import frames
from hexathlon.tasks.terminal.templates.shifts.history import history
from hexathlon.tasks.terminal.templates.shifts.job import TicketMaker
from hexathlon.tasks.terminal.templates.shifts.readings import readings
from hexathlon.tasks.terminal.templates.shifts.relay import relay, relay_release
from hexathlon.tasks.terminal.templates.shifts.rename import rename
from hexathlon.tasks.terminal.templates.shifts.salvage import salvage
from hexathlon.tasks.terminal.templates.shifts.stock import stock, stock_report
from hexathlon.tasks.terminal.templates.shifts.tariff import tariff

__all__ = ["DAYS"]

_QUEUE = (relay, relay_release)
_STOCK = (stock, stock_report)

DAYS: dict[str, tuple[TicketMaker, ...]] = {
    "shift_campaign": (*_QUEUE, *_STOCK, tariff, history, rename),
    "shift_meters": (*_QUEUE, *_STOCK, readings, frames, tariff),
    "shift_release": (*_QUEUE, history, rename, frames, tariff, salvage),
    "shift_prices": (*_STOCK, tariff, salvage, rename, frames, readings),
    "shift_devices": (*_QUEUE, *_STOCK, frames, history, readings),
    "shift_month_end": (*_QUEUE, *_STOCK, readings, tariff, history),
    "shift_handover": (*_QUEUE, *_STOCK, rename, tariff, salvage),
    "shift_audit": (*_QUEUE, *_STOCK, history, rename, readings),
    "shift_migration": (*_QUEUE, *_STOCK, salvage, frames, history),
    "shift_night": (*_QUEUE, *_STOCK, tariff, readings, salvage),
    "shift_opening": (*_QUEUE, *_STOCK, frames, readings, rename),
    "shift_long": (*_QUEUE, *_STOCK, tariff, history, frames, readings),
    "shift_weekend": (*_QUEUE, *_STOCK, history, tariff),
}
"""Name of a day to its kinds of tickets; a kind that builds on another comes after it."""

_AFTER: dict[TicketMaker, TicketMaker] = {relay_release: relay, stock_report: stock}


def _drawn(draft: TerminalDraft, makers: tuple[TicketMaker, ...]) -> list[TicketMaker]:
    """Draw the order: what builds on an earlier ticket comes two places after it or later."""
    while True:
        order = draft.dice.shuffled(makers)
        gaps = [order.index(late) - order.index(early) for late, early in _AFTER.items()
                if late in order]  # fmt: skip
        if all(gap >= 2 for gap in gaps):
            return order


def _writer(makers: tuple[TicketMaker, ...]) -> Callable[[TerminalDraft], None]:
    def write(draft: TerminalDraft) -> None:
        compose_day(draft, _drawn(draft, makers))

    return write


for _name, _makers in DAYS.items():
    template(_name, ("hard",), ("git", "sqlite3"))(_writer(_makers))

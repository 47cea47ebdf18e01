"""The days: which tickets arrive, in which order."""

from hexathlon.tasks.terminal.draft import TerminalDraft, template
from hexathlon.tasks.terminal.templates.shifts.day import compose_day
from hexathlon.tasks.terminal.templates.shifts.frames import frames
from hexathlon.tasks.terminal.templates.shifts.history import history
from hexathlon.tasks.terminal.templates.shifts.readings import readings
from hexathlon.tasks.terminal.templates.shifts.relay import relay, relay_release
from hexathlon.tasks.terminal.templates.shifts.rename import rename
from hexathlon.tasks.terminal.templates.shifts.stock import stock, stock_report
from hexathlon.tasks.terminal.templates.shifts.tariff import tariff

__all__ = ["shift_thin"]


@template("shift_thin", ("hard",), ("git",))
def shift_thin(draft: TerminalDraft) -> None:
    """Thin."""
    compose_day(draft, (tariff, readings, frames))

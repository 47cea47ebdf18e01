"""The people of a day, conversations with them, and the list of tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["DayCast", "conversation", "draw_cast", "mail", "note"]

_CHORES = (
    ("Rinse the barrels", "冲洗木桶"), ("Trim the hedge", "修剪树篱"),
    ("Sort the keys", "整理钥匙"), ("Air the cellar", "给地窖通风"),
    ("Wax the skis", "给滑雪板打蜡"), ("Fold the tents", "叠帐篷"),
    ("Clean the gutters", "清理排水沟"), ("Stack the wood", "堆放木柴"),
    ("Test the smoke alarms", "测试烟雾报警器"), ("Label the jars", "给罐子贴标签"),
)  # fmt: skip


@dataclass(frozen=True)
class DayCast:
    """People of a day; all have unique names."""

    keeper: PhoneRow
    """May change the rules, unless on leave."""

    deputy: PhoneRow
    """May change them while the keeper is on leave."""

    others: Sequence[PhoneRow]
    """Every second one belongs to the group Work."""

    tasks: PhoneRow
    """The list of tasks."""

    taken: Sequence[str]
    """Days on which an open task of the list is due."""

    acting: bool = False
    """Whether the keeper is on leave today."""

    @property
    def chief(self) -> PhoneRow:
        """Who may change the rules today."""
        return self.deputy if self.acting else self.keeper

    @property
    def other(self) -> PhoneRow:
        """Who may not, of the keeper and the deputy."""
        return self.keeper if self.acting else self.deputy


def draw_cast(e: Errand, count: int = 9) -> DayCast:
    """Draw the people of a day, and fill the list of tasks."""
    keeper, deputy = e.people(2, "email")
    chosen = {keeper["id"], deputy["id"]}
    rest = [row for row in e.unique("contacts.contacts", "name") if row["id"] not in chosen]
    others = e.choose(rest, count)
    for place, row in enumerate(others):
        group = "work" if place % 2 else e.pick(("family", "friends"))
        others[place] = e.put("contacts.contacts", row, group=group)
    tasks, taken = _tasks(e)
    return DayCast(keeper, deputy, tuple(others), tasks, taken)


def _tasks(e: Errand) -> tuple[PhoneRow, list[str]]:
    """Create the list: open tasks on distinct working days, and two that are done."""
    number = e.number(11, 99)
    first = min(row["place"] for row in e.rows("tasks.lists"))
    within = e.put("tasks.lists", None, name=e.say(f"Planned {number}", f"计划{number}"),
                   place=first - 1)  # fmt: skip
    days = [e.day(offset) for offset in range(2, 34)]
    days = [day for day in days if date.fromisoformat(day).weekday() < 5]
    chosen = e.sample(days, 10)
    for place, (chore, day) in enumerate(zip(e.sample(_CHORES, 10), chosen, strict=True)):
        e.put("tasks.tasks", None, list=within["id"], title=e.say(f"{chore[0]} {number}",
              f"{chore[1]}{number}"), due=day, time="", priority="", flagged=False,
              done=place >= 8, note="", changed=f"{e.day(-2)} 09:05")  # fmt: skip
    return within, chosen[:8]


def conversation(e: Errand, person: PhoneRow) -> PhoneRow:
    """Return the conversation with a person, started if there is none."""
    known = next((row for row in e.rows("messages.threads")
                  if row["number"] == person["phone"]), None)  # fmt: skip
    if known is not None:
        return known
    thread = e.put("messages.threads", None, name=person["name"], number=person["phone"],
                   muted=False, blocked=False, unread=False)  # fmt: skip
    e.tell(thread, e.say("Hello, it is me.", "你好，是我。"))
    return thread


def note(
    e: Errand, title: str, text: str, *, pinned: bool = False, days_ago: int | None = None
) -> None:  # fmt: skip
    """Add a note, by default changed one to nine days ago."""
    ago = e.number(1, 9) if days_ago is None else days_ago
    e.put("notes.notes", None, title=title, text=text, label="", pinned=pinned, archived=False,
          changed=f"{e.day(-ago)} {e.number(10, 19)}:{e.number(10, 59)}")  # fmt: skip


def mail(e: Errand, person: PhoneRow, subject: str, body: str, days_ago: int) -> PhoneRow:
    """Add an email from a person to the inbox."""
    return e.put("mail.mails", None, folder="inbox", name=person["name"], address=person["email"],
                 to="", cc="", subject=subject, body=body, file="", unread=False, starred=False,
                 time=f"{e.day(-days_ago)} {e.number(10, 19)}:{e.number(10, 59)}")  # fmt: skip

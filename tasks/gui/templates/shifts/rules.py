"""House rules: how the phone's owner wants things done, and their changes.

The rules apply to every transfer, message, event and task of the day. They are on a note, which a
second note amends from given dates on; one person may change them by message.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from hexathlon.tasks.gui.operations.money import transfer
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.operations.planning import add_event, add_task, reminder_words
from hexathlon.tasks.gui.operations.writing import send_message
from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_text

__all__ = ["ALARMS", "HouseRules", "RuleChange", "draw_change", "draw_rules"]

ALARMS = ("5", "10", "15", "30", "60", "120")
"""Reminders that rules name, in minutes before an event."""


@dataclass(frozen=True)
class RuleChange:
    """A new value of one rule."""

    rule: str
    """Field of `HouseRules`."""

    value: Any

    def applied(self, rules: "HouseRules") -> "HouseRules":
        """Return rules with this change."""
        return replace(rules, **{self.rule: self.value})

    def text(self, e: Errand) -> str:
        """Return the change as people write it."""
        value = self.value
        if self.rule == "bound":
            assert isinstance(value, int)
            return e.say(f"transfers leave from the savings account from {cents_text(value, 'en')} "
                         "on", f"转账金额从{cents_text(value, 'zh')}起从储蓄账户转出")  # fmt: skip
        if self.rule == "sign":
            return e.say(f'messages to the group Work end in "{value}"',
                         f"发给“工作”群组的信息以“{value}”结尾")  # fmt: skip
        if self.rule in ("guests_alarm", "alone_alarm"):
            words = reminder_words(e.language, str(value))[0]
            who = e.say(*(("with", "有") if self.rule == "guests_alarm" else ("without", "没有")))
            return e.say(f"events {who} guests get the reminder {words}",
                         f"{who}受邀者的日程提醒设为{words}")  # fmt: skip
        return e.say(f"tasks due within {value} days get high priority",
                     f"{value}天内到期的任务优先级为高")  # fmt: skip


@dataclass(frozen=True)
class HouseRules:
    """The rules in force at some time."""

    current: PhoneRow
    savings: PhoneRow
    bound: int
    """Transfers of this many cents or more leave from the savings account."""

    sign: str
    """Ending of messages to the group Work."""

    guests_alarm: str
    alone_alarm: str
    days: int
    """Tasks that are due within this many days have high priority."""

    today: str

    def transfer(self, payee: PhoneRow, cents: int, reference: str) -> PhoneOperation:
        """Send money from the account that the rules name."""
        account = self.savings if cents >= self.bound else self.current
        return transfer(payee, cents, reference, account)

    def message(self, contact: PhoneRow, text: str) -> PhoneOperation:
        """Send a message, signed if the rules require it."""
        return send_message(contact, f"{text} {self.sign}" if contact["group"] == "work" else text)

    def event(self, guests: Sequence[PhoneRow] = (), **facts: str) -> PhoneOperation:
        """Create an event in the calendar and with the reminder that the rules name."""
        work = any(row["group"] == "work" for row in guests)
        if guests:
            facts["guests"] = ", ".join(row["name"] for row in guests)
        return add_event(**facts, calendar="work" if work else "personal",
                         alarm=self.guests_alarm if guests else self.alone_alarm)  # fmt: skip

    def task(self, title: str, due: str) -> PhoneOperation:
        """Create a task with the due date and the priority that the rules ask for."""
        at = date.fromisoformat(due)
        at -= timedelta(days=max(0, at.weekday() - 4))
        near = (at - date.fromisoformat(self.today)).days <= self.days
        more = {"priority": "high"} if near else {}
        return add_task(title=title, due=at.isoformat(), **more)


def draw_rules(e: Errand) -> HouseRules:
    """Draw the rules of the morning; the two accounts hold enough for any day."""
    accounts = e.rows("bank.accounts")
    current, savings = (e.put("bank.accounts", row, balance=100 * e.number(6000, 9000))
                        for row in accounts[:2])  # fmt: skip
    guests, alone = e.sample(ALARMS, 2)
    return HouseRules(current, savings, 1000 * e.number(6, 20), _sign(e), guests, alone,
                      e.number(4, 8), e.today)  # fmt: skip


def _sign(e: Errand) -> str:
    letter = e.pick("ABCDEFGHJKLMNPRSTUVW")
    return e.say(*e.pick(((f"Regards, {letter}.", f"{letter}敬上"),
                          (f"Thanks, {letter}.", f"谢谢，{letter}"))))  # fmt: skip


def draw_change(e: Errand, rules: HouseRules, rule: str) -> RuleChange:
    """Draw another value of a rule."""
    if rule == "bound":
        return RuleChange(rule, rules.bound + e.pick((-3000, -2000, 4000, 7000)))
    if rule == "sign":
        sign = _sign(e)
        e.need(sign != rules.sign)
        return RuleChange(rule, sign)
    if rule == "days":
        return RuleChange(rule, e.pick([days for days in range(2, 14) if days != rules.days]))
    taken = (rules.guests_alarm, rules.alone_alarm)
    return RuleChange(rule, e.pick([each for each in ALARMS if each not in taken]))


def rule_lines(e: Errand, rules: HouseRules, keeper: str) -> str:
    """Return the note with the rules."""
    bound = cents_text(rules.bound, e.language)
    guests, alone = (reminder_words(e.language, each)[0]
                     for each in (rules.guests_alarm, rules.alone_alarm))  # fmt: skip
    lines = (
        e.say(f"Transfers of {bound} or more leave from the account {rules.savings['name']}, "
              f"smaller ones from {rules.current['name']}.",
              f"{bound}及以上的转账从“{rules.savings['name']}”转出，更小的从"
              f"“{rules.current['name']}”转出。"),
        e.say(f'Messages to contacts of the group Work end in "{rules.sign}", after a space. '
              "Others have no ending.",
              f"发给“工作”群组联系人的信息末尾空一格写“{rules.sign}”，其他人的不写。"),
        e.say(f"Events with guests get the reminder {guests}, events without guests {alone}.",
              f"有受邀者的日程提醒设为{guests}，没有受邀者的设为{alone}。"),
        e.say("An event with a guest of the group Work belongs in the calendar Work, any other in "
              "Personal.",
              "受邀者中有“工作”群组的人时，日程归入“工作”日历，其他都归入“个人”。"),
        e.say("A task that would be due on a Saturday or a Sunday is due on the Friday before.",
              "本应周六或周日到期的任务，改为之前的周五到期。"),
        e.say(f"A task that is then due within {rules.days} days of today has high priority, any "
              "other none.",
              f"改好后从今天算起{rules.days}天内到期的任务优先级为高，其他不设优先级。"),
        e.say(f"Only {keeper} may change these rules by message; such a change holds for what is "
              "created or sent afterwards, and what exists stays as it is.",
              f"只有{keeper}可以发信息更改这些规则；更改对之后新建和发送的一切有效，已有的保持原样。"),
    )  # fmt: skip
    return "\n".join(lines)

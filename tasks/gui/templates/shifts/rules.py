"""House rules: how the phone's owner wants things done, and their changes.

Several rules depend on what has happened so far: what has left an account today, who has been
written to, which days are taken. They are on a note, which a second note amends from given dates
on; one person may change them by message.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hexathlon.tasks.gui.operations.planning import reminder_words
from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_text

__all__ = ["ALARMS", "KINDS", "HouseRules", "RuleChange", "draw_change", "draw_rules",
           "rule_lines"]  # fmt: skip

ALARMS = ("5", "10", "15", "30", "60", "120")
"""Reminders that rules name, in minutes before an event."""

KINDS: Mapping[str, str] = {"limit": "transfers", "sign": "messages", "days": "tasks",
                            "guests_alarm": "guests", "alone_alarm": "alone"}  # fmt: skip
"""What each changeable rule applies to."""


@dataclass(frozen=True)
class RuleChange:
    """A new value of one rule."""

    rule: str
    """Field of `HouseRules`."""

    value: Any
    account: str = ""
    """Name of the account that a limit is about."""

    @property
    def retroactive(self) -> bool:
        """Whether, sent as a message, it also holds for what was created earlier that day."""
        return self.rule in ("days", "guests_alarm", "alone_alarm")

    def applied(self, rules: "HouseRules") -> "HouseRules":
        """Return rules with this change."""
        return replace(rules, **{self.rule: self.value})

    def text(self, e: Errand) -> str:
        """Return the change as people write it."""
        value = self.value
        if self.rule == "limit":
            assert isinstance(value, int)
            return e.say(f"at most {cents_text(value, 'en')} a day leave the account "
                         f'"{self.account}" by transfer, including what left it earlier on the '
                         "same date",
                         f"“{self.account}”每天最多转出{cents_text(value, 'zh')}，"
                         "同一日期更早转出的也算在内")  # fmt: skip
        if self.rule == "sign":
            return e.say("the ending of the first message of a day to a contact of the group Work "
                         f'is "{value}"',
                         "每天发给“工作”群组某位联系人的第一条信息，"
                         f"结尾改为“{value}”")  # fmt: skip
        if self.rule in ("guests_alarm", "alone_alarm"):
            words = reminder_words(e.language, str(value))[0]
            who = e.say(*(("with", "有") if self.rule == "guests_alarm" else ("without", "没有")))
            return e.say(f"events {who} guests get the reminder {words}",
                         f"{who}受邀者的日程提醒设为{words}")  # fmt: skip
        return e.say(f"tasks due at most {value} days after today's date get high priority, all "
                     "others none",
                     f"到期日不晚于今天之后第{value}天的任务优先级为高，"
                     "其他不设优先级")  # fmt: skip

    def message(self, e: Errand) -> str:
        """Return the change as a message."""
        if not self.retroactive:
            return e.say(f"From now on, {self.text(e)}.", f"从现在起，{self.text(e)}。")
        things = e.say(*(("tasks", "任务") if self.rule == "days" else ("events", "日程")))
        return e.say(
            f"From now on, and for the {things} made today too, {self.text(e)}.",
            f"从现在起，{self.text(e)}，今天已经新建的{things}也一样。",
        )


@dataclass(frozen=True)
class HouseRules:
    """The rules in force at some time."""

    current: PhoneRow
    savings: PhoneRow
    limit: int
    """Cents that may leave the current account by transfer in a day."""

    sign: str
    """Ending of the first message of a day to a contact of the group Work."""

    guests_alarm: str
    alone_alarm: str
    days: int
    """Tasks that are due within this many days have high priority."""

    tasks: PhoneRow
    """The list of tasks, in which no two are due on one day."""

    today: str
    forgotten: frozenset[str] = frozenset()
    """Conditions that a careless reader overlooks: `spent`, `written`, `taken`, `made`."""


def draw_rules(e: Errand, tasks: PhoneRow) -> HouseRules:
    """Draw the rules of the morning; the two accounts hold enough for any day."""
    accounts = e.rows("bank.accounts")
    current, savings = (e.put("bank.accounts", row, balance=100 * e.number(6000, 9000))
                        for row in accounts[:2])  # fmt: skip
    guests, alone = e.sample(ALARMS, 2)
    return HouseRules(current, savings, 1000 * e.number(15, 26), _sign(e), guests, alone,
                      e.number(4, 8), tasks, e.today)  # fmt: skip


def _sign(e: Errand) -> str:
    letter = e.pick("ABCDEFGHJKLMNPRSTUVW")
    return e.say(*e.pick(((f"Regards, {letter}.", f"{letter}敬上"),
                          (f"Thanks, {letter}.", f"谢谢，{letter}"))))  # fmt: skip


def draw_change(e: Errand, rules: HouseRules, rule: str) -> RuleChange:
    """Draw another value of a rule."""
    if rule == "limit":
        more = 1000 * e.pick((-6, -4, -3, 4, 6, 9))
        return RuleChange(rule, rules.limit + more, rules.current["name"])
    if rule == "sign":
        sign = _sign(e)
        e.need(sign != rules.sign)
        return RuleChange(rule, sign)
    if rule == "days":
        return RuleChange(rule, e.pick([days for days in range(2, 14) if days != rules.days]))
    taken = (rules.guests_alarm, rules.alone_alarm)
    return RuleChange(rule, e.pick([each for each in ALARMS if each not in taken]))


def rule_lines(e: Errand, rules: HouseRules, kinds: frozenset[str]) -> list[str]:
    """Return the rules for these kinds of things, one a line."""
    writers: tuple[tuple[str, Callable[[Errand, HouseRules], Sequence[str]]], ...] = (
        ("transfers", _transfers), ("messages", _messages), ("guests", _guests),
        ("alone", _alone), ("tasks", _tasks),
    )  # fmt: skip
    lines = [line for kind, write in writers if kind in kinds for line in write(e, rules)]
    if "guests" in kinds or "alone" in kinds:
        lines.append(_moved(e))
    return [*lines, _promises(e)] if "told" in kinds else lines


def _transfers(e: Errand, rules: HouseRules) -> Sequence[str]:
    limit = cents_text(rules.limit, e.language)
    return (
        e.say(f'On one day at most {limit} leave the account "{rules.current["name"]}" by '
              "transfer, including what left it earlier on the same date. A transfer that would "
              f'exceed this leaves from "{rules.savings["name"]}" instead, whole.',
              f"“{rules.current['name']}”每天通过转账最多转出{limit}，同一日期更早转出的也算在内。"
              f"某笔转账会使它超额时，整笔改从“{rules.savings['name']}”转出。"),
    )  # fmt: skip


def _messages(e: Errand, rules: HouseRules) -> Sequence[str]:
    return (
        e.say("The first message of a day to a contact of the group Work ends in "
              f'"{rules.sign}", after a space. Further ones to the same contact on the same date '
              "have no ending, nor have messages to others.",
              f"每天发给“工作”群组某位联系人的第一条信息，末尾空一格写“{rules.sign}”；同一日期再发给此人的不写，"
              "发给其他人的也不写。"),
    )  # fmt: skip


def _guests(e: Errand, rules: HouseRules) -> Sequence[str]:
    words = reminder_words(e.language, rules.guests_alarm)[0]
    return (
        e.say(f"Events with guests get the reminder {words}.", f"有受邀者的日程提醒设为{words}。"),
        e.say("An event with a guest of the group Work belongs in the calendar Work, any other in "
              "Personal.",
              "受邀者中有“工作”群组的人时，日程归入“工作”日历，其他都归入“个人”。"),
    )  # fmt: skip


def _alone(e: Errand, rules: HouseRules) -> Sequence[str]:
    words = reminder_words(e.language, rules.alone_alarm)[0]
    return (
        e.say(f"Events without guests are in the calendar Personal, with the reminder {words}.",
              f"没有受邀者的日程归入“个人”日历，提醒设为{words}。"),
    )  # fmt: skip


def _moved(e: Errand) -> str:
    return e.say(
        "What I say about calendars and reminders is for new events; an event that only gets "
        "another date or time keeps its calendar and its reminder.",
        "关于日历和提醒的规矩只针对新建的日程；只改日期或时间的日程，日历和提醒都不变。",
    )


def _tasks(e: Errand, rules: HouseRules) -> Sequence[str]:
    name = rules.tasks["name"]
    return (
        e.say(f'Tasks go into the list "{name}". One that would be due on a Saturday or a Sunday '
              "is due on the Friday before. If another open task of this list is due on the "
              "resulting date, it is due on the nearest working day (Monday to Friday) before that "
              "date on which none is.",
              f"任务放进清单“{name}”。本应周六或周日到期的，改为之前的周五到期；如果这样得出的日期该清单里已有别的"
              "未完成任务到期，就提前到该日期之前最近的、没有任务到期的工作日（周一至周五）。"),
        e.say(f"A task that is then due at most {rules.days} days after today's date has high "
              "priority, all others have none. All this also holds when a due date is changed.",
              f"这样定下后，到期日不晚于今天之后第{rules.days}天的任务优先级为高，其他不设优先级。"
              "更改截止日期时也照此办理。"),
    )  # fmt: skip


def _promises(e: Errand) -> str:
    return e.say(
        "Anyone whom I have told a date or a time today is also told when it changes, in the same "
        "form.",
        "今天告诉过别人的日期或时间如有变动，要以同样的格式再告诉对方。",
    )

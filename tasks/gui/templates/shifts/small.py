"""Small duties that later requests change: tasks that are withdrawn or put off, and payments."""

from datetime import date, timedelta

from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.operations.planning import add_task, delete_task
from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.templates.shifts.book import DayWork, ShiftRequest
from hexathlon.tasks.gui.templates.shifts.cast import DayCast
from hexathlon.tasks.gui.templates.shifts.rules import HouseRules
from hexathlon.tasks.gui.world.phone.money import cents_text

__all__ = ["chores", "payments"]


def chores(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Two tasks; later one is withdrawn, and a message gives the other one's result away."""
    number = e.number(11, 99)
    kept, gone = (e.say(f"{word[0]} {number}", f"{word[1]}{number}") for word in e.sample((
        ("Varnish the gate", "给大门上漆"), ("Return the drill", "归还电钻"),
        ("Bottle the juice", "装果汁"), ("Mend the sail", "补帆")), 2))  # fmt: skip
    days = e.sample(range(2, 12), 2)
    due, other = (e.day(each) for each in days)
    person = cast.others[8]
    more = e.pick((3, 4, 5, 6))

    def work(rules: HouseRules) -> DayWork:
        return DayWork(
            [rules.task(kept, due), rules.task(gone, other)],
            {"as said": [add_task(title=kept, due=due), add_task(title=gone, due=other)]},
        )

    def later(rules: HouseRules) -> DayWork:
        new = (date.fromisoformat(due) + timedelta(days=more)).isoformat()
        text = e.say(f"{kept}: not before {new}", f"{kept}：{new}之后")
        works: list[PhoneOperation] = [delete_task(gone), rules.message(person, text)]
        return DayWork(works, {"unsigned": [delete_task(gone)]})

    return [
        ShiftRequest((
            f'Add two tasks: "{kept}", due on {e.day_words(due)}, and "{gone}", due on '
            f"{e.day_words(other)}.",
            f"新建两项任务：“{kept}”，{e.day_words(due)}截止；“{gone}”，"
            f"{e.day_words(other)}截止。"), work),
        ShiftRequest((
            f'Forget "{gone}": delete the task. And tell {person["name"]} about "{kept}" that it '
            f"will not be done before {more} days after the date that I named first, in the form "
            f'"{kept}: not before 2026-01-31".',
            f"“{gone}”不用做了，请删除任务。另外请告诉{person['name']}“{kept}”要在我最初说的日期之后{more}天"
            f"才做，格式为“{kept}：2026-01-31之后”。"), later),
    ]  # fmt: skip


def payments(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Two payments around the bound above which another account pays."""
    del cast
    one, two = e.payees(2)
    bound = int(e.number(70, 190)) * 100
    first, second = bound + 100 * e.number(-30, 30), bound + 100 * e.number(-30, 30)
    codes = [e.say(f"Order {code}", f"订单{code}") for code in e.sample(range(100, 999), 2)]

    def work(rules: HouseRules) -> DayWork:
        return DayWork([rules.transfer(one, first, codes[0])],
                       {"swapped": [rules.transfer(two, first, codes[0])]})  # fmt: skip

    def later(rules: HouseRules) -> DayWork:
        return DayWork([rules.transfer(two, second, codes[1]),
                        rules.transfer(one, second, codes[0])],
                       {"one of two": [rules.transfer(two, second, codes[1])]})  # fmt: skip

    return [
        ShiftRequest((
            f'Send {one["name"]} {cents_text(first, "en")}, reference "{codes[0]}".',
            f"转给{one['name']}{cents_text(first, 'zh')}，附言“{codes[0]}”。"), work),
        ShiftRequest((
            f'Send {two["name"]} {cents_text(second, "en")}, reference "{codes[1]}", and as much '
            f"again to {one['name']}, with the reference of this payee's first payment today.",
            f"转给{two['name']}{cents_text(second, 'zh')}，附言“{codes[1]}”；"
            f"再转同样金额给{one['name']}，附言与今天给此人的第一笔相同。"), later),
    ]  # fmt: skip

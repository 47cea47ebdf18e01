"""Small duties that later requests change: tasks that are withdrawn or put off, and payments."""

from datetime import date, timedelta

from hexathlon.tasks.gui.operations.finding import read_path
from hexathlon.tasks.gui.operations.money import note_entry
from hexathlon.tasks.gui.operations.planning import add_task, delete_task
from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.templates.shifts.book import ShiftRequest
from hexathlon.tasks.gui.templates.shifts.cast import DayCast, conversation
from hexathlon.tasks.gui.templates.shifts.moment import DayWork, Moment
from hexathlon.tasks.gui.world.phone.money import cents_text

__all__ = ["chores", "payments"]

_JOBS = (("Varnish the gate", "给大门上漆"), ("Return the drill", "归还电钻"),
         ("Bottle the juice", "装果汁"), ("Mend the sail", "补帆"),
         ("Grease the pulley", "给滑轮上油"), ("Hang the swing", "挂秋千"))  # fmt: skip


def chores(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Two tasks and a promise; later one is withdrawn and the other put off."""
    number = e.number(11, 99)
    kept, gone = (e.say(f"{word[0]} {number}", f"{word[1]}{number}")
                  for word in e.sample(_JOBS, 2))  # fmt: skip
    taken = [day for day in cast.taken if e.day(2) < day < e.day(15)]
    e.need(len(taken) > 1)
    due, other = e.sample(taken, 2)
    if e.number(0, 1):
        other = due
    person = cast.others[8 - e.number(0, 1)]
    if e.number(0, 1):
        e.put("messages.messages", None, thread=conversation(e, person)["id"], file="", mine=True,
              text=e.say("Good morning!", "早上好！"), time=f"{e.today} 07:59")  # fmt: skip
    shed = e.say(f"Key {e.number(100, 999)}", f"钥匙{e.number(100, 999)}")
    more = e.number(3, 9)
    new = (date.fromisoformat(due) + timedelta(days=more)).isoformat()

    def told(at: Moment) -> str:
        row = at.phone.the("tasks.tasks", title=kept)
        return e.say(f"{kept}: {row['due']}", f"{kept}：{row['due']}")

    def work(at: Moment) -> DayWork:
        yield read_path("tasks", "", cast.tasks["name"])
        if at.slip == "as said":
            yield add_task(title=kept, list=cast.tasks["name"], due=due, note=shed)
            yield add_task(title=gone, list=cast.tasks["name"], due=other, note=shed)
        else:
            yield at.task(kept, due, shed)
            yield at.task(gone, other, shed)
        yield at.message(person, told(at))
        return None

    def later(at: Moment) -> DayWork:
        yield delete_task(gone)
        row = at.phone.the("tasks.tasks", title=kept)
        moved = at.moved_task(kept, new if at.slip != "from the due date" else (
            date.fromisoformat(row["due"]) + timedelta(days=more)).isoformat())  # fmt: skip
        if moved is not None:
            yield moved
            if at.slip != "untold" and at.phone.the("tasks.tasks", title=kept)["due"] != row["due"]:
                yield at.message(person, told(at))
        return None

    form = e.say(f"{kept}: 2026-01-31", f"{kept}：2026-01-31")
    return [
        ShiftRequest((
            f'Add two tasks, one after the other: "{kept}" by {e.day_words(due)}, then "{gone}" by '
            f'{e.day_words(other)}, each with the note "{shed}". Then tell '
            f'{person["name"]} by message when "{kept}" is due in '
            f'the end, in the form "{form}".',
            f"依次新建两项任务：先是“{kept}”，不晚于{e.day_words(due)}；然后是“{gone}”，不晚于"
            f"{e.day_words(other)}；备注都写“{shed}”。再发信息告诉{person['name']}“{kept}”最后定在哪天到期，"
            f"格式为“{form}”。"), work, ("as said",)),
        ShiftRequest((
            f'"{gone}" is not needed after all: delete the task. And "{kept}" may now be done '
            f"{more} days later than the date that I first named.",
            f"“{gone}”不用做了，请删除任务。“{kept}”可以比我最初说的日期再晚{more}天。"),
            later, ("from the due date", "untold")),
    ]  # fmt: skip


def payments(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Two payments on a day on which money has left the account already."""
    # What is owed to the others, for a trip, is sent to them as well.
    others = {row["name"] for row in cast.others}
    payees = [row for row in e.unique("bank.payees", "name") if row["name"] not in others]
    earlier, one, two = e.choose(payees, 3)
    current, savings = e.rows("bank.accounts")[:2]
    spent = 100 * e.number(30, 80)
    facts = {"day": e.today, "note": "", "disputed": ""}
    e.put("bank.entries", None, account=current["id"], title=earlier["name"], amount=-spent,
          kind="transfer", reference=e.say("Instalment", "分期"), card=0, category="",
          **facts)  # fmt: skip
    e.put("bank.entries", None, account=savings["id"], title=two["name"], kind="transfer",
          amount=-100 * e.number(20, 70), reference=e.say("Deposit", "押金"), card=0, category="",
          **facts)  # fmt: skip
    cards = [row for row in e.rows("bank.entries") if row["kind"] == "card"
             and row["account"] == current["id"]]  # fmt: skip
    e.put("bank.entries", None, **{**e.choose(cards, 1)[0], "day": e.today,
                                   "amount": -100 * e.number(15, 60)})  # fmt: skip
    first, second = 100 * e.number(40, 110), 100 * e.number(50, 130)
    codes = [e.say(f"Order {code}", f"订单{code}") for code in e.sample(range(100, 999), 2)]
    percent = e.pick((5, 15, 20, 25))
    receipt = e.say(f"Receipt {e.number(100, 999)}", f"收据{e.number(100, 999)}")

    def work(at: Moment) -> DayWork:
        yield read_path("bank", "", current["name"])
        payee = two if at.slip == "swapped" else one
        yield at.transfer(payee, first, codes[0])
        entry = at.phone.the("bank.entries", title=payee["name"], reference=codes[0])
        if at.slip != "no note":
            yield note_entry(entry, receipt)
        return None

    def later(at: Moment) -> DayWork:
        less = 0 if at.slip == "in full" else first * percent // 100
        yield at.transfer(two, second - less, codes[1])
        return None

    return [
        ShiftRequest((
            f'Send {one["name"]} {cents_text(first, "en")}, reference "{codes[0]}". Then give this '
            f'entry of the account the note "{receipt}".',
            f"转给{one['name']}{cents_text(first, 'zh')}，附言“{codes[0]}”。"
            f"再给账户里的这笔记录写上备注“{receipt}”。"), work, ("swapped", "no note")),
        ShiftRequest((
            f'Send {two["name"]} {cents_text(second, "en")} less {percent} % of what I sent '
            f'{one["name"]} today, reference "{codes[1]}".',
            f"转给{two['name']}{cents_text(second, 'zh')}，但要减去今天转给{one['name']}的金额的"
            f"{percent}%，附言“{codes[1]}”。"), later, ("in full",)),
    ]  # fmt: skip

"""Duties with a layout that is planned in the morning and again whenever something changes.

The values, steps and conditions of a layout are in two notes and in messages. The person who may
change the house rules may change them, too; messages of the other person do not count.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from hexathlon.tasks.gui.operations.finding import read, read_thread
from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.templates.shifts.book import ShiftRequest
from hexathlon.tasks.gui.templates.shifts.cast import DayCast, conversation, note
from hexathlon.tasks.gui.templates.shifts.courses import (
    LayoutChange,
    changed,
    drawn,
    falsely_changed,
)
from hexathlon.tasks.gui.templates.shifts.layouts import COUNT, PAIRS, Placement, SiteLayout
from hexathlon.tasks.gui.templates.shifts.moment import DayWork, Moment
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["one_market", "short_stands", "short_tents", "stands", "tents"]

_RECIPIENTS = (5, 3, 1)
"""Indices, in the cast, of the members of the group Work who are sent the layouts, in turn."""

_SPARE = 3
"""Number of further things, for newcomers."""


@dataclass(frozen=True)
class _Story:
    """Names of things and places; all texts in English and in Chinese."""

    title: tuple[str, str]
    places: tuple[str, str]
    """Title of the note about the places."""

    things: tuple[tuple[str, str], ...]
    noun: tuple[str, str]
    counter: str
    """Measure word of the Chinese noun."""

    spot: tuple[str, str]
    values: tuple[str, str]
    """What the value of a pair means."""

    count: int
    """Number of pairs with a value, some of which may be 0."""

    drawn: tuple[int, int]
    """Lowest and highest value in the morning."""

    limits: tuple[int, int]


_STANDS = _Story(
    ("Market", "集市"), ("Square", "广场"),
    (("Bread", "面包"), ("Cheese", "奶酪"), ("Honey", "蜂蜜"), ("Fish", "鲜鱼"), ("Soap", "肥皂"),
     ("Tea", "茶叶"), ("Wool", "毛线"), ("Plants", "花草"), ("Toys", "玩具"), ("Books", "旧书"),
     ("Pottery", "陶器"), ("Spices", "香料"), ("Baskets", "篮子"), ("Candles", "蜡烛")),
    ("stand", "摊位"), "个", ("place", "位置"),
    ("Customers who walk between two stands", "在两个摊位之间走动的顾客数"), 20, (0, 9), (0, 12),
)  # fmt: skip

_TENTS = _Story(
    ("Camp", "露营"), ("Meadow", "草地"),
    (("Ada", "阿达"), ("Ben", "小本"), ("Cleo", "可可"), ("Dov", "阿多"), ("Eva", "伊娃"),
     ("Finn", "阿芬"), ("Gus", "老顾"), ("Hana", "花花"), ("Ivo", "阿沃"), ("June", "小君"),
     ("Kai", "阿凯"), ("Lena", "丽娜"), ("Milo", "米洛"), ("Nora", "诺拉")),
    ("tent", "帐篷"), "顶", ("pitch", "营位"),
    ("How much the owners of two tents want to be near each other, negative if they want distance",
     "两顶帐篷的主人想离得近的程度，负数表示想离得远"), 22, (-5, 6), (-9, 9),
)  # fmt: skip


def stands(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Place the stands of a market."""
    return _planning(e, cast, _STANDS)


def one_market(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Place the stands of a market once, and tell two people."""
    return _planning(e, cast, _STANDS, changes=0)


def short_stands(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Place the stands of a market, with one change."""
    return _planning(e, cast, _STANDS, changes=1)


def tents(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Place the tents of people who want to be near each other or not."""
    return _planning(e, cast, _TENTS)


def short_tents(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Place the tents of people who want to be near each other or not, with one change."""
    return _planning(e, cast, _TENTS, changes=1)


class _Stage(NamedTuple):
    """A layout to be found, and what is written right before."""

    best: Placement
    slips: Mapping[str, Placement]
    """Other layouts, by the mistake that leads to them."""

    true: str
    false: str
    """What is written by the one who may change things, and by the other; may be empty."""


# Texts -----------------------------------------------------------------------------------------


class _Words:
    """Writes the texts of a day's layout."""

    def __init__(self, e: Errand, story: _Story) -> None:
        self.e, self.story = e, story
        number = e.number(11, 99)
        self.title, self.places = (
            e.say(f"{each[0]} {number}", f"{each[1]}{number}")
            for each in (story.title, story.places)
        )
        drawn = [e.say(*each) for each in e.sample(story.things, COUNT + _SPARE)]
        self.names, self.spare = drawn[:COUNT], drawn[COUNT:]

    def plan(self, places: Sequence[int]) -> str:
        """Return a layout as it is told."""
        numbers = " ".join(str(place + 1) for place in places)
        return self.e.say(f"{self.title}: {numbers}", f"{self.title}：{numbers}")

    def notes(self, problem: SiteLayout) -> tuple[str, str]:
        """Return the notes about things and places."""
        e, story = self.e, self.story
        noun, spot = e.say(*story.noun), e.say(*story.spot)
        steps = e.say("; ", "；").join(
            f"{one + 1}-{other + 1}: {far}"
            for (one, other), far in zip(PAIRS, problem.steps, strict=True))  # fmt: skip
        barred = "".join(self._barred(*each) for each in problem.barred)
        values = self._values({pair: problem.values[pair] for pair in PAIRS
                               if pair in problem.values})  # fmt: skip
        first = e.say(
            f"The {COUNT} {noun}s, in the order of the list: {', '.join(self.names)}. Each gets "
            f"one of the {spot}es 1 to {COUNT}.\n"
            f"{story.values[0]} (pairs that are not named: 0): {values}\n"
            f"Cost of a plan: for each pair of {noun}s, this number times the steps between their "
            f'two {spot}es, by the note "{self.places}"; the sum over all pairs.\n'
            f"Conditions:{barred}\n"
            "Whoever may change my rules may change this, too, by message; what anybody else "
            "writes about it does not count. A message changes only what it names.",
            f"{COUNT}{story.counter}{noun}，按清单顺序：{'、'.join(self.names)}。"
            f"每{story.counter}占{spot}1至{COUNT}中的一个。\n"
            f"{story.values[1]}（没有列出的为0）：{values}\n"
            f"方案的费用：每两{story.counter}{noun}，用这个数乘以两者{spot}之间的步数（见笔记“{self.places}”），"
            "再把所有的相加。\n"
            f"条件：{barred}\n"
            "有权更改我的做事规矩的人也可以发信息更改这里的内容，其他人写的不算。"
            "信息只更改其中提到的内容。")  # fmt: skip
        second = e.say(f"Steps between two {spot}es: {steps}", f"两个{spot}之间的步数：{steps}")
        return (_plural(first, spot), _plural(second, spot))

    def _values(self, values: Mapping[tuple[int, int], int]) -> str:
        e = self.e
        return e.say("; ", "；").join(
            e.say(f"{self.names[one]} and {self.names[other]} {value}",
                  f"{self.names[one]}和{self.names[other]} {value}")
            for (one, other), value in values.items())  # fmt: skip

    def _barred(self, thing: int, place: int) -> str:
        spot = self.story.spot
        return self.e.say(f" {self.names[thing]} must not have {spot[0]} {place + 1}.",
                          f"{self.names[thing]}不能占{spot[1]}{place + 1}。")  # fmt: skip

    def change(self, change: LayoutChange) -> str:
        """Return a change as it is written; a newcomer is named from then on."""
        e, parts = self.e, ""
        if change.newcomer is not None:
            old, new = self.names[change.newcomer], self.spare.pop()
            self.names[change.newcomer] = new
            parts += e.say(
                f" {new} comes instead of {old} and takes the same place in the list; pairs with "
                f"{new} that are not named here: 0.",
                f"{new}代替{old}，在清单中的次序不变；与{new}有关而这里没有列出的为0。",
            )
        if change.lifted is not None:
            thing, place = change.lifted
            parts += e.say(
                f" {self.names[thing]} may have {self.story.spot[0]} {place + 1} now.",
                f"{self.names[thing]}现在可以占{self.story.spot[1]}{place + 1}。",
            )
        if change.added is not None:
            parts += self._barred(*change.added)
        if values := {pair: change.values[pair] for pair in PAIRS if pair in change.values
                      and (change.values[pair] or change.newcomer not in pair)}:  # fmt: skip
            parts += e.say(f" From now on: {self._values(values)}.",
                           f"从现在起：{self._values(values)}。")  # fmt: skip
        return e.say(f"{self.title}:{parts}", f"{self.title}：{parts}")


def _plural(text: str, spot: str) -> str:
    """Return a text with the regular plural of a noun where "es" does not fit."""
    return text if spot.endswith("ch") else text.replace(f"{spot}es", f"{spot}s")


# The course of a day ---------------------------------------------------------------------------


def _stages(e: Errand, words: _Words, count: int) -> tuple[SiteLayout, list[_Stage]]:
    """Draw the morning and the changes; return the problem as noted, and all stages."""
    story = words.story
    problem, best = drawn(e, story.count, *story.drawn)
    stale, unread = falsely_changed(e, problem, (), story.limits)
    noted = stale.applied(problem)
    false, believed = falsely_changed(e, problem, tuple(stale.values), story.limits)
    right = LayoutChange({pair: problem.values.get(pair, 0) for pair in stale.values})
    slips = {"as noted": unread, "believed": believed, **_careless(problem)}
    stages = [_Stage(best, _wrong(slips, best), words.change(right), words.change(false))]
    kinds = e.sample(("values", "newcomer", "barred"), count)
    quiet = e.number(0, 1)
    for place, kind in enumerate(kinds):
        change, after = changed(e, problem, [each.best for each in stages], kind, story.limits)
        problem = change.applied(problem)
        slips = _careless(problem, best)
        true, untrue = words.change(change), ""
        if place != quiet:
            false, slips["believed"] = falsely_changed(
                e, problem, tuple(change.values), story.limits
            )
            untrue = words.change(false)
        best = after
        stages.append(_Stage(best, _wrong(slips, best), true, untrue))
    return noted, stages


def _careless(problem: SiteLayout, *former: Placement) -> dict[str, Placement]:
    """Return layouts of those who forget something, or find no better one by exchanges."""
    allowed = [each for layouts in problem.hasty(*former) for each in layouts
               if not any(each[thing] == place for thing, place in problem.barred)]  # fmt: skip
    slips = {
        "conditions forgotten": replace(problem, barred=()).best()[0],
        "negative values ignored": problem.given(
            {pair: max(0, value) for pair, value in problem.values.items()}).best()[0],
    }  # fmt: skip
    if allowed:
        slips["exchanged"] = min(allowed, key=lambda each: (problem.cost(each), each))
    return slips


def _wrong(slips: Mapping[str, Placement], best: Placement) -> Mapping[str, Placement]:
    return {name: places for name, places in slips.items() if places != best}


# Requests --------------------------------------------------------------------------------------


def _planning(e: Errand, cast: DayCast, story: _Story, changes: int = 2) -> list[ShiftRequest]:
    """Plan in the morning and after each change."""
    words = _Words(e, story)
    names = list(words.names)
    noted, stages = _stages(e, words, changes)
    words.names = names
    for title, text in zip((words.title, words.places), words.notes(noted), strict=True):
        note(e, title, text)
    chief, other = (conversation(e, row) for row in (cast.chief, cast.other))
    written = [(chief, stages[0].true), (other, stages[0].false)]
    for thread, text in e.sample(written, 2):
        e.tell(thread, text)
    people = [cast.others[place] for place in _RECIPIENTS]
    threads = [conversation(e, person) for person in people]
    e.put("messages.messages", None, file="", mine=True,
          thread=threads[e.pick((1, 1, 2)) if changes > 1 else 1]["id"],
          text=e.say("Good morning!", "早上好！"), time=f"{e.today} 07:59")  # fmt: skip

    def work_of(
        stage: _Stage, reads: Sequence[str], *told: PhoneRow
    ) -> Callable[[Moment], DayWork]:
        def work(at: Moment) -> DayWork:
            if stage is stages[0]:
                yield read("notes", words.title)
                yield read("notes", words.places)
            for name in reads:
                yield read_thread(name)
            if at.slip != "kept":
                for person in told:
                    yield at.message(person, words.plan(stage.slips.get(at.slip, stage.best)))
            return None

        return work

    noun, spot = story.noun, story.spot
    first = people[:1] if changes else people[:2]
    named = e.say(" and ".join(row["name"] for row in first),
                  "和".join(row["name"] for row in first))  # fmt: skip
    example = words.plan((2, 0, 4, 1, 7, 5, 3, 6))
    requests = [ShiftRequest((
        f'Find the plan for the note "{words.title}" that costs least, by all that has been '
        f"written to me; there is exactly one. Tell {named} by message which {spot[0]} "
        f"each {noun[0]} gets: only the numbers, in the order of the list, in the form "
        f'"{example}", besides an ending if my notes ask for one.',
        f"请为笔记“{words.title}”找出费用最低的方案，要考虑别人发给我的信息；这样的方案只有一个。"
        f"发信息告诉{named}每{story.counter}{noun[1]}占哪个{spot[1]}，只写编号，按清单顺序，"
        f"格式为“{example}”；笔记要求写结尾时，另加结尾。"),
        work_of(stages[0], (chief["name"], other["name"]), *first),
        tuple(stages[0].slips))]  # fmt: skip
    for stage, person in zip(stages[1:], people[1:], strict=False):
        said = [(thread, text) for thread, text in ((chief, stage.true), (other, stage.false))
                if text]  # fmt: skip
        said = e.sample(said, len(said))
        requests.append(ShiftRequest((
            f'Find the plan for "{words.title}" that costs least again, by all that has been '
            "written to me up to now. If it is not the one that you found last time, tell "
            f"{person['name']} the new one by message, in the same form, with an ending if my "
            "notes ask for one.",
            f"请按到目前为止别人发给我的信息，重新为“{words.title}”找出费用最低的方案。"
            f"如果和上次找出的不同，请发信息把新方案告诉{person['name']}，格式同前；"
            "笔记要求写结尾时，另加结尾。"),
            work_of(stage, [thread["name"] for thread, _ in said], person),
            (*stage.slips, "kept"),
            said=tuple(said)))  # fmt: skip
    return requests

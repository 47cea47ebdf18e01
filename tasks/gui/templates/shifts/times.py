"""Duties with time: a meeting of several people, jobs in free gaps, deadlines, listening."""

from datetime import date, timedelta
from itertools import combinations, product

from hexathlon.tasks.gui.operations.finding import read, read_path, read_thread
from hexathlon.tasks.gui.operations.media import clear_queue, enqueue, trash_file
from hexathlon.tasks.gui.operations.planning import change_event
from hexathlon.tasks.gui.templates.appointments import later
from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.templates.shifts.book import ShiftRequest
from hexathlon.tasks.gui.templates.shifts.cast import DayCast, conversation, mail, note
from hexathlon.tasks.gui.templates.shifts.moment import DayWork, Moment
from hexathlon.tasks.gui.templates.shifts.rules import ALARMS
from hexathlon.tasks.gui.world.apps.calendar.calendar import happens_on
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["deadlines", "gaps", "listening", "meeting", "storage"]

_JOBS = 4
"""Jobs that are placed into gaps."""

_EPISODES = 8
"""Episodes from which those of a ride are chosen."""

_FILES = 9
"""Files of the folder in which space is freed."""


def _clear(e: Errand, day: str) -> None:
    """Remove the events of a day, repeated ones included."""
    e.drop("calendar.events", *(row for row in e.rows("calendar.events") if happens_on(row, day)))


# Meeting ---------------------------------------------------------------------------------------


def meeting(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Find the first slot that suits everybody, invite, inform; later somebody drops a slot."""
    people = list(cast.others[3:5])
    threads = [conversation(e, row) for row in people]
    first = e.number(3, 8)
    slots = [(e.day(first + place // 2), ("10:00", "15:00")[place % 2]) for place in range(8)]
    for day in dict.fromkeys(day for day, _ in slots):
        _clear(e, day)
    free = [set(e.sample(range(8), 5)) for _ in people]
    mine = set(e.sample(range(8), 2))
    for place in mine:
        day, start = slots[place]
        e.put("calendar.events", None, title=e.say(f"Stocktaking {e.number(100, 999)}",
              f"盘库{e.number(100, 999)}"), day=day, all_day=False, start=later(start, 30),
              end=later(start, 90), place="", guests="", calendar="personal", alarm="", repeat="",
              note="")  # fmt: skip
    back = e.number(0, len(people) - 1)
    taken = sorted(set.intersection(*free) - mine)
    e.need(len(taken) >= 2)
    # Somebody first names a slot that would come earlier, and takes it back.
    early = [place for place in range(taken[0]) if place not in mine
             and all(place in each for at, each in enumerate(free) if at != back)]  # fmt: skip
    e.need(early)
    told = [set(each) for each in free]
    told[back].add(early[0])
    names = [f"{e.day_words(day)} {start}" for day, start in slots]
    for thread, each in zip(threads, told, strict=True):
        shown = [names[place] for place in sorted(each)]
        e.tell(thread, e.say(f"I could come on {'; '.join(shown)}.",
                             f"我这些时间可以：{'；'.join(shown)}。"))  # fmt: skip
    e.tell(threads[back], e.say(f"Not on {names[early[0]]} after all.",
                                f"{names[early[0]]}还是不行。"))  # fmt: skip
    title = e.say(f"Round {e.number(11, 99)}", f"碰头会{e.number(11, 99)}")
    dropper = e.number(0, len(people) - 1)

    def informed(at: Moment, place: int) -> DayWork:
        text = e.say(f"{title}: {slots[place][0]} {slots[place][1]}",
                     f"{title}：{slots[place][0]} {slots[place][1]}")  # fmt: skip
        for row in people:
            yield at.message(row, text)
        return None

    def work(at: Moment) -> DayWork:
        for thread in threads:
            yield read_thread(thread["name"])
        yield read_path("calendar", "agenda")
        place = early[0] if at.slip == "taken back" else taken[0]
        day, start = slots[place]
        yield at.event(people, title=title, day=day, start=start, end=later(start, 60))
        return (yield from informed(at, place))

    def moved(at: Moment) -> DayWork:
        yield read_thread(threads[dropper]["name"])
        (day, start), (old_day, old_start) = slots[taken[1]], slots[taken[0]]
        facts = {"day": day} if day != old_day else {}
        if start != old_start:
            facts |= {"start": start, "end": later(start, 60)}
        yield change_event(title, **facts)
        return None if at.slip == "untold" else (yield from informed(at, taken[1]))

    told_off = e.say(f"{names[taken[0]]} does not suit me any more. All else I wrote holds.",
                     f"{names[taken[0]]}我来不了了，其他时间不变。")  # fmt: skip
    form = e.say(f"{title}: 2026-01-31 10:00", f"{title}：2026-01-31 10:00")
    others = e.say(" and ".join(row["name"] for row in people),
                   "、".join(row["name"] for row in people))  # fmt: skip
    return [
        ShiftRequest((
            f'Plan "{title}", one hour, with {others}: the first time that suits both of them, by '
            "what they wrote me, and at which no event of mine is in the way. Put it into the "
            f'calendar with the two as guests, and message each, in the form "{form}".',
            f"请安排“{title}”，一小时，参加者{others}：按他们发来的信息，选两人都可以、我也没有日程冲突的"
            f"最早时间。加入日历并邀请两人，再分别发信息告知，格式为“{form}”。"),
            work, ("taken back",)),
        ShiftRequest((
            f'Make sure that "{title}" still suits everybody; if not, move it by the same '
            "conditions.",
            f"请确认“{title}”的时间大家是否仍然都可以；如果不行，按同样的条件改期。"),
            moved, ("untold",), said=((threads[dropper], told_off),)),
    ]  # fmt: skip


# Jobs in gaps ----------------------------------------------------------------------------------


def gaps(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Place jobs of given lengths into the free gaps of a day; one assignment fits."""
    del cast
    day = e.day(e.number(14, 20))
    _clear(e, day)
    breaks = [e.pick((30, 45, 60)) for _ in range(2)]
    sizes, jobs, where = _tight_gaps(e)
    begin = 9 * 60
    starts, at = [], begin
    for size, pause in zip(sizes, [*breaks, 0], strict=True):
        starts.append(at)
        at += size + pause
    e.need(at <= 18 * 60)
    blocks = [(starts[0] + sizes[0], breaks[0]), (starts[1] + sizes[1], breaks[1])]
    for start, length in blocks:
        e.put("calendar.events", None, title=e.say(f"Held {e.number(100, 999)}",
              f"占用{e.number(100, 999)}"), day=day, all_day=False, start=_clock(start),
              end=_clock(start + length), place="", guests="", calendar="work", alarm="",
              repeat="", note="")  # fmt: skip
    number = e.number(11, 99)
    names = [e.say(f"{word[0]} {number}", f"{word[1]}{number}") for word in e.sample((
        ("Sharpen", "磨刀"), ("Label", "贴签"), ("Sweep", "清扫"), ("Glue", "上胶"),
        ("Count", "清点"), ("Oil", "上油"), ("Pack", "装箱")), _JOBS)]  # fmt: skip
    title = e.say(f"Jobs {number}", f"活计{number}")
    note(e, title, "\n".join(
        e.say(f"{name}: {length} minutes", f"{name}：{length}分钟")
        for name, length in zip(names, jobs, strict=True)))  # fmt: skip
    end = _clock(starts[2] + sizes[2])
    room = e.say(f"Room {e.number(100, 999)}", f"{e.number(100, 999)}室")
    times: dict[int, int] = {}
    for gap in range(3):
        at = starts[gap]
        for job in sorted(
            (job for job in range(_JOBS) if where[job] == gap), key=lambda j: -jobs[j]
        ):
            times[job] = at
            at += jobs[job]

    first = min(times, key=lambda job: times[job])

    def work(at: Moment) -> DayWork:
        yield read("notes", title)
        yield read_path("calendar", "agenda")
        shift = 5 if at.slip == "late" else 0
        yield at.event(title=names[first], day=day, start=_clock(times[first] + shift),
                       end=_clock(times[first] + shift + jobs[first]), note=room)  # fmt: skip
        return [_clock(times[job]) for job in range(_JOBS)]

    return [ShiftRequest((
        f'When would the four jobs of the note "{title}" begin on {e.day_words(day)}, between 9:00 '
        f"and {end}, each in one piece and beside no other event? They all fit, in one way. "
        "Within a free stretch the longest job comes first, and the jobs follow each other from "
        "its beginning without a break. Answer with the four times in the order of the note, like "
        '"09:00; 10:30; 11:15; 14:00", and put only the job that begins earliest on '
        f'{e.day_words(day)} into the calendar, under its name and with the note "{room}".',
        f"笔记“{title}”里的四项活计要排进{e.day_words(day)}9:00至{end}，每项不拆分、不与其他日程"
        "重叠；只有一种排法放得下。每段空闲里最长的排最前，从空闲开始处起一项接一项，不留间隔。"
        "请按笔记里的顺序回答四项各自的开始时间，如“09:00; 10:30; 11:15; 14:00”，"
        f"并只把{e.day_words(day)}最早开始的那项以其名称加入日历，备注写“{room}”。"),
        work, ("late",))]  # fmt: skip


def _tight_gaps(e: Errand) -> tuple[list[int], list[int], tuple[int, ...]]:
    """Draw the lengths of three gaps and four jobs that fit in one way, with the gap of each."""
    for _ in range(400):
        jobs = e.sample((25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 80), _JOBS)
        drawn = e.sample((0, 0, 1, 2), _JOBS)
        sizes = [sum(job for job, gap in zip(jobs, drawn, strict=True) if gap == at)
                 + e.pick((0, 5)) for at in range(3)]  # fmt: skip
        fits = [where for where in product(range(3), repeat=_JOBS) if all(
            sum(jobs[job] for job in range(_JOBS) if where[job] == gap) <= sizes[gap]
            for gap in range(3))]  # fmt: skip
        if len(fits) == 1 and len(set(sizes)) == 3:
            return sizes, jobs, fits[0]
    e.need(False)
    raise AssertionError


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


# Deadlines -------------------------------------------------------------------------------------


def deadlines(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Make tasks whose deadlines count back from an event that moves, twice."""
    planner = cast.others[7]
    e.need(planner["email"])
    name = e.say(f"Gala {e.number(11, 99)}", f"晚会{e.number(11, 99)}")
    day, again = e.day(e.number(20, 30)), e.day(e.number(20, 30))
    event = e.put("calendar.events", None, title=name, day=e.day(e.number(36, 50)), all_day=False,
                  start="18:00", end="20:00", place="", guests="", calendar="family",
                  alarm=e.pick(ALARMS), repeat="", note="")  # fmt: skip
    steps = e.sample((("Print badges", "打印胸牌"), ("Order flowers", "订花"),
                      ("Confirm halls", "确认场地"), ("Collect lists", "收集名单")), 2)  # fmt: skip
    backs = e.sample(range(1, 12), 2)
    code = e.say(f"Budget {e.number(100, 999)}", f"预算{e.number(100, 999)}")
    titles = [e.say(f"{step[0]} for {name}", f"{name}：{step[1]}") for step in steps]
    needs = (e.say("; ".join(f"{step[0]} {back} days before" for step, back in
                             zip(steps, backs, strict=True)),
                   "；".join(f"提前{back}天{step[1]}" for step, back in
                            zip(steps, backs, strict=True))))  # fmt: skip
    subject = e.say(f"What {name} needs", f"{name}的准备工作")
    mail(e, planner, subject, e.say(f"For {name}: {needs}.", f"{name}：{needs}。"), 12)
    mail(e, planner, e.say(f"{name}: new date", f"{name}改期"), e.say(
        f"{name} is now on {e.day_words(day)}. All else stays.",
        f"{name}改到{e.day_words(day)}，其他不变。"), 5)  # fmt: skip
    thread = conversation(e, planner)
    e.need(day != again)

    def wanted(day: str, back: int) -> str:
        return (date.fromisoformat(day) - timedelta(days=back)).isoformat()

    def work(at: Moment) -> DayWork:
        yield read("mail", subject, planner["name"])
        yield change_event(name, day=day)
        yield read_path("tasks", "", cast.tasks["name"])
        for title, back in zip(titles, backs, strict=True):
            due = wanted(event["day"] if at.slip == "old date" else day, back)
            yield at.task(title, due, code)
        return None

    def moved(at: Moment) -> DayWork:
        yield read_thread(thread["name"])
        yield change_event(name, day=again)
        for title, back in zip(titles, backs, strict=True):
            change = None if at.slip == "event only" else at.moved_task(title, wanted(again, back))
            if change is not None:
                yield change
        return None

    return [
        ShiftRequest((
            f'{planner["name"]} has written mails about "{name}": what it needs and when. Make a '
            f'task of each point, in the order of the mail and in the form "{titles[0]}", each '
            f'with the note "{code}", and correct the event\'s date if it is wrong.',
            f"{planner['name']}的邮件里写了“{name}”需要什么、什么时候。请按邮件中的顺序为每一点新建任务，"
            f"格式为“{titles[0]}”，备注都写“{code}”；如果日程的日期不对请更正。"),
            work, ("old date",)),
        ShiftRequest((
            f'There is news about "{name}", by message. Bring the calendar and the tasks up to '
            "date, the tasks one after the other in the same order.",
            f"“{name}”有新消息，见信息。请更新日历和任务，任务仍按同样的顺序逐个更新。"),
            moved, ("event only",),
            said=((thread, e.say(f"{name} moves once more, to {e.day_words(again)}.",
                                 f"{name}又改期了，改到{e.day_words(again)}。")),)),
    ]  # fmt: skip


# Listening -------------------------------------------------------------------------------------


def listening(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Fill the time of a ride with episodes as well as possible; later the ride is shorter."""
    person = cast.others[6]
    thread = conversation(e, person)
    queue = e.rows("podcasts.queue")
    e.drop("podcasts.queue", *queue)
    shows = e.choose([row for row in e.rows("podcasts.shows") if row["subscribed"]], 2)
    by_id = {row["id"]: row for row in shows}
    titles = [row["title"] for row in e.rows("podcasts.episodes") if row["show"] in by_id]
    pool = [row for row in e.rows("podcasts.episodes") if row["show"] in by_id
            and not row["played"] and titles.count(row["title"]) == 1]  # fmt: skip
    e.need(len(pool) >= _EPISODES)
    pool = e.sample(pool, _EPISODES)
    for row in e.rows("podcasts.episodes"):
        if row["show"] in by_id and row not in pool:
            e.put("podcasts.episodes", row, played=True)
    total = sum(row["minutes"] for row in pool)
    limit = e.number(total * 2 // 5, total * 3 // 5)
    shorter = limit - e.number(7, 25)
    plans = [_fullest(pool, bound) for bound in (limit, shorter)]
    e.need(all(len(each) == 1 and 2 <= len(each[0]) <= 5 for each in plans))
    before, after = ([pool[place] for place in each[0]] for each in plans)
    e.need(set(plans[0][0]) != set(plans[1][0]))
    greedy, left = [], limit
    for row in sorted(pool, key=lambda row: -row["minutes"]):
        if row["minutes"] <= left:
            greedy.append(row)
            left -= row["minutes"]
    e.need(sum(row["minutes"] for row in greedy) < sum(row["minutes"] for row in before))

    def order(rows: list[PhoneRow]) -> list[PhoneRow]:
        return sorted(rows, key=lambda row: (row["minutes"], row["id"]))

    e.need(len({row["minutes"] for row in pool}) == len(pool))

    def work(at: Moment) -> DayWork:
        for show in shows:
            yield read_path("podcasts", "shows", show["title"])
        for row in order(greedy if at.slip == "greedy" else before):
            yield enqueue(by_id[row["show"]], row)
        return None

    def again(at: Moment) -> DayWork:
        yield read_thread(thread["name"])
        for row in order(before):
            yield clear_queue(row)
        for row in order(before if at.slip == "kept" else after):
            yield enqueue(by_id[row["show"]], row)
        return None

    shown = e.say(f'"{shows[0]["title"]}" and "{shows[1]["title"]}"',
                  f"“{shows[0]['title']}”和“{shows[1]['title']}”")  # fmt: skip
    return [
        ShiftRequest((
            f"I have a ride of {limit} minutes ahead. Queue episodes of {shown} that I have not "
            "played so that they fill it as far as possible without exceeding it, the shortest "
            "first.",
            f"我要坐{limit}分钟的车。请把{shown}里没听过的单集加入队列，总时长尽量接近但不超过这段时间，"
            "短的在前。"), work, ("greedy",)),
        ShiftRequest((
            f"The ride has changed, see what {person['name']} wrote. Fill the queue anew by the "
            "same conditions.",
            f"车程变了，见{person['name']}发来的信息。请按同样的条件重新排队列。"),
            again, ("kept",),
            said=((thread, e.say(f"The ride takes only {shorter} minutes now.",
                                 f"车程现在只要{shorter}分钟。")),)),
    ]  # fmt: skip


def _fullest(pool: list[PhoneRow], bound: int) -> list[tuple[int, ...]]:
    """Return every choice with the largest total up to a bound."""
    best, found = -1, list[tuple[int, ...]]()
    for count in range(1, len(pool) + 1):
        for part in combinations(range(len(pool)), count):
            total = sum(pool[place]["minutes"] for place in part)
            if best < total <= bound:
                best, found = total, [part]
            elif total == best:
                found.append(part)
    return found


# Storage ---------------------------------------------------------------------------------------


def storage(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Free space by binning the files that exceed the target least; some must stay."""
    folder = e.put("files.folders", None, name=e.say(f"Scans {e.number(11, 99)}",
                   f"扫描{e.number(11, 99)}"), parent=0)  # fmt: skip
    person = cast.others[7]
    thread = conversation(e, person)
    sizes = e.sample(range(110, 990), _FILES)
    names = [e.say(f"scan-{code}.pdf", f"扫描-{code}.pdf")
             for code in e.sample(range(1000, 9999), _FILES)]  # fmt: skip
    starred, needed = e.sample(range(_FILES), 2)
    rows = [e.put("files.files", None, name=name, folder=folder["id"], kind="doc", size=size,
                  text="", starred=place == starred, trashed=False, changed=e.day(-30 - place))
            for place, (name, size) in enumerate(zip(names, sizes, strict=True))]  # fmt: skip
    e.tell(thread, e.say(f"I still need {names[needed]}, please keep it.",
                         f"{names[needed]}我还要用，请留着。"))  # fmt: skip
    usable = [place for place in range(_FILES) if place not in (starred, needed)]
    target = e.number(1500, 2300)
    sums = sorted((sum(sizes[place] for place in part), part) for count in range(1, 6)
                  for part in combinations(usable, count)
                  if sum(sizes[place] for place in part) >= target)  # fmt: skip
    e.need(len(sums) > 1 and sums[0][0] < sums[1][0] and len(sums[0][1]) == 3)
    free = sorted((sum(sizes[place] for place in part), part) for count in range(1, 6)
                  for part in combinations(range(_FILES), count)
                  if sum(sizes[place] for place in part) >= target)  # fmt: skip
    e.need(free[0] != sums[0])

    parts = {"needed": free[0][1], "second": sums[1][1]}

    def work(at: Moment) -> DayWork:
        yield read_path("files", "", folder["name"])
        yield read_thread(thread["name"])
        for place in parts.get(at.slip, sums[0][1]):
            yield trash_file(rows[place])
        return None

    return [ShiftRequest((
        f"Put files of the folder {folder['name']} into the bin that have at least {target} KB "
        "together, and as little more as possible. Starred files stay, and whatever somebody has "
        "written me to keep.",
        f"请把文件夹“{folder['name']}”中总共至少{target} KB的文件移到回收站，超出的越少越好。"
        "加星标的和有人发信息要我保留的不要动。"), work, tuple(parts))]  # fmt: skip

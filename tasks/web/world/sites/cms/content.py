"""Initial content of the editorial system."""

import json
from datetime import datetime, timedelta

from hexathlon.tasks.web.world.draws import DrawStream
from hexathlon.tasks.web.world.gazetteer import Building, draw_subjects
from hexathlon.tasks.web.world.site import SiteBrief
from hexathlon.tasks.web.world.sites.cms.rules import PressRules, draw_press_rules, policies
from hexathlon.tasks.web.world.sites.cms.vocabulary import DESKS, LICENCES
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["populate"]

_ARTICLES = (18, 64, 220, 560)
_TITLES = (
    ("Repairs at {s} to last until {m}", "{s}维修将持续到{m}"),
    ("{s} reopens after {n} months", "{s}停用{n}个月后重新开放"),
    ("Council argues over {s}", "郡议会就{s}争论不休"),
    ("What the new road means for {s}", "新路对{s}意味着什么"),
    ("{s}: {n} volunteers wanted", "{s}招募{n}名志愿者"),
    ("A night at {s}", "{s}的一夜"),
    ("Storm damage at {s} put at {n} thousand", "{s}风灾损失估计{n}千元"),
    ("Leave {s} as it is", "别动{s}"),
    ("{n} years of {s}", "{s}的{n}年"),
    ("The people who keep {s} going", "守护{s}的人们"),
)
_MONTHS = (
    "March=三月",
    "June=六月",
    "autumn=秋天",
    "Easter=复活节",
    "November=十一月",
    "the new year=新年",
)
_SENTENCES = (
    ("The county has set aside {n} thousand for the work.", "郡政府为此拨款{n}千元。"),
    ("Neighbours complain of noise in the early hours.", "附近居民抱怨清晨噪声。"),
    ("{n} people came to the meeting on Tuesday.", "周二的会议有{n}人到场。"),
    ("An expert report is expected within weeks.", "专家报告预计数周内完成。"),
    ("{n} buses a day stop nearby.", "附近每天有{n}班公交停靠。"),
    ("Nobody was hurt.", "无人受伤。"),
    ("The association has {n} members and is looking for more.", "协会现有{n}名会员，仍在招新。"),
    ("Older visitors remember the day of the opening.", "年长的访客还记得落成那天。"),
)
_TAGS = ("building=建设", "transport=交通", "volunteers=志愿者", "council=议会", "weather=天气",
    "history=历史",
         "tourism=旅游", "schools=学校", "environment=环境", "events=活动", "opinion poll=民调",
             "heritage=遗产")  # fmt: skip
_MENU = ("Home=首页", "News=新闻", "Culture=文化", "Coast & nature=海岸与自然", "Sport=体育",
    "Opinion=观点",
         "Tides=潮汐", "Contact=联系我们")  # fmt: skip
_CREDITS = (
    "M. Sorley",
    "Press pool",
    "T. Abara",
    "County archive",
    "J. Renwick",
    "Shoreline Images",
)
_NOTES = (
    ("Please check the figure in the second paragraph.", "请核对第二段的数字。"),
    ("Nice piece. Shorten the ending.", "写得不错，结尾可再精简。"),
    ("Waiting for a call back from the harbour office.", "等待港务处回电。"),
)


def populate(store: SiteStore, brief: SiteBrief) -> None:
    """Fill staff, articles, media, menu and policies."""
    draws = DrawStream("cms", brief.seed)
    zh = brief.language == "zh"
    rules = draw_press_rules(draws)
    store.insert("_rules", data=json.dumps(rules._asdict()))
    for title, body in policies(rules, brief.clock.today, brief.language):
        store.insert("policies", title=title, body=body)
    staff = _staff(store, brief, draws)
    for text in _TAGS:
        store.insert("tags", name=text.split("=")[zh])
    for position, text in enumerate(_MENU, 1):
        store.insert(
            "menu",
            label=text.split("=")[zh],
            target="/" + text.split("=")[0].split(" ")[0].lower(),
            position=position,
        )
    count = _ARTICLES[brief.scale - 1]
    subjects = draw_subjects(max(12, count // 4), brief.split, brief.language, draws)
    media = _media(store, brief, draws, subjects)
    _articles(store, brief, draws, subjects, staff, media, rules)


def _staff(store: SiteStore, brief: SiteBrief, draws: DrawStream) -> dict[str, list[str]]:
    """Add the team: the user is the producer; every desk has two editors, and writers."""
    people = brief.people
    writers: dict[str, list[str]] = {desk: [] for desk in DESKS}
    editors = [person.login for person in people[2:12]]
    for place, person in enumerate(people):
        desk = DESKS[place % 5]
        role = (
            "producer"
            if place == 0
            else "chief"
            if place == 1
            else "editor"
            if place < 12
            else "writer"
        )
        away = ("", "")
        if role == "editor" and draws.chance(0.4):
            start = brief.clock.today + timedelta(days=draws.between(-6, 4))
            away = (start.isoformat(), (start + timedelta(days=draws.between(2, 9))).isoformat())
        deputy = (
            draws.pick([each for each in editors if each != person.login])
            if role == "editor"
            else ""
        )
        store.insert(
            "authors",
            login=person.login,
            name=person.name,
            desk="" if place < 2 else desk,
            role=role,
            away_from=away[0],
            away_until=away[1],
            deputy=deputy,
        )
        if place >= 2:
            writers[desk].append(person.login)
    return writers


def _media(
    store: SiteStore, brief: SiteBrief, draws: DrawStream, subjects: list[Building]
) -> dict[str, list[int]]:
    """Add pictures; return their numbers by subject."""
    zh, rows, found = brief.language == "zh", list[tuple[object, ...]](), dict[str, list[int]]()
    for place, subject in enumerate(subjects, 1):
        for shot in range(draws.between(1, 3)):
            number = len(rows) + 1
            alt = (
                (f"{subject.name}外景" if zh else f"View of {subject.name}")
                if draws.chance(0.85)
                else ""
            )
            when = brief.clock.today - timedelta(days=draws.between(3, 200))
            credit = draws.pick(_CREDITS) if draws.chance(0.85) else ""
            rows.append(
                (
                    number,
                    f"{subject.kind.key}-{place:03d}-{shot + 1}.jpg",
                    subject.name,
                    alt,
                    credit,
                    draws.pick(LICENCES),
                    draws.between(80, 4200) * 1000,
                    when.isoformat(),
                )
            )
            found.setdefault(subject.name, []).append(number)
    store.insert_many(
        "media",
        ("id", "filename", "subject", "alt", "credit", "licence", "bytes", "uploaded"),
        rows,
    )
    return found


def _articles(
    store: SiteStore,
    brief: SiteBrief,
    draws: DrawStream,
    subjects: list[Building],
    staff: dict[str, list[str]],
    media: dict[str, list[int]],
    rules: PressRules,
) -> None:
    zh, now = brief.language == "zh", brief.clock.start
    rows, tagged, notes = (
        list[tuple[object, ...]](),
        list[tuple[object, ...]](),
        list[tuple[object, ...]](),
    )
    taken: set[str] = set()
    titles: set[str] = set()
    for number in range(1001, 1001 + _ARTICLES[brief.scale - 1]):
        subject = draws.pick(subjects)
        figure = draws.between(3, 90)
        title = subject.name
        while title in titles or title == subject.name:
            figure += 1
            title = draws.pick(_TITLES)[zh].format(
                s=subject.name, n=figure, m=draws.pick(_MONTHS).split("=")[zh]
            )
        titles.add(title)
        desk = draws.pick(DESKS)
        author = draws.pick(staff[desk])
        status = draws.pick(
            ("published",) * 12
            + ("archived",) * 2
            + ("draft",) * 3
            + ("review",) * 3
            + ("scheduled",) * 2
        )
        age = draws.between(60, 60 * 24 * 400)
        updated = now - timedelta(minutes=age)
        when = ""
        if status in ("published", "archived"):
            when = (updated - timedelta(days=draws.between(0, 20))).strftime(
                "%Y-%m-%d "
            ) + draws.pick(rules.slots)
        elif status == "scheduled":
            when = _slot(draws, now, rules)
            if when in taken or len(taken) >= 4 + 3 * brief.scale:
                status, when = "review", ""
            else:
                taken.add(when)
        reviewers = [each for each in staff[desk][:2] if each != author]
        reviewer = draws.pick(reviewers) if status in ("published", "archived", "scheduled") else ""
        body = ("" if zh else " ").join(
            text[zh].format(n=draws.between(4, 95))
            for text in draws.sample(_SENTENCES, draws.between(2, 4))
        )
        lead = f"{subject.name}近况。" if zh else f"News from {subject.name}."
        rows.append(
            (
                number,
                title,
                lead,
                body,
                desk,
                author,
                reviewer,
                status,
                when,
                "",
                draws.pick(media[subject.name]),
                int(draws.chance(0.12)),
                updated.isoformat(" ", "seconds"),
            )
        )
        for tag in draws.sample(range(1, len(_TAGS) + 1), draws.between(0, 3)):
            tagged.append((number, tag))
        if draws.chance(0.15):
            notes.append(
                (
                    number,
                    draws.pick(staff[desk]),
                    updated.isoformat(" ", "seconds"),
                    draws.pick(_NOTES)[zh],
                )
            )
    store.insert_many(
        "articles",
        (
            "id",
            "title",
            "summary",
            "body",
            "section",
            "author",
            "reviewer",
            "status",
            "publish_at",
            "embargo",
            "image",
            "featured",
            "updated",
        ),
        rows,
    )
    store.insert_many("article_tags", ("article", "tag"), tagged)
    store.insert_many("notes", ("article", "author", "created", "body"), notes)


def _slot(draws: DrawStream, now: datetime, rules: PressRules) -> str:
    day = now + timedelta(days=draws.between(1, 12))
    time = rules.weekend_slot if day.weekday() >= 5 else draws.pick(rules.slots)
    return f"{day:%Y-%m-%d} {time}"

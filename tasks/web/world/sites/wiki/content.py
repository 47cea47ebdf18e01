"""Initial content of the wiki."""

import json
from datetime import timedelta

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.world.draws import DrawStream
from hexathlon.tasks.web.world.gazetteer import SOURCES, Building, draw_subjects, places_of
from hexathlon.tasks.web.world.people import draw_people
from hexathlon.tasks.web.world.site import SiteBrief
from hexathlon.tasks.web.world.sites.wiki.guidelines import draw_rules, guidelines
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["amount", "populate"]

_PAGES = (14, 48, 160, 420)
_HISTORY = (
    (
        "The parish asked for it as early as {a}, but money was short for years.",
        "教区早在{a}年就提出建设，但多年缺乏资金。",
    ),
    ("A storm in {a} tore away part of the roof.", "{a}年的一场风暴掀去了部分屋顶。"),
    ("During the war years it served as a store for grain.", "战争年代曾用作粮仓。"),
    ("In {a} it was painted by the landscape painter {p}.", "{a}年，风景画家{p}曾以此入画。"),
    (
        "A first plan by {p} was rejected in {a} as too costly.",
        "{p}的首个方案于{a}年因造价过高被否决。",
    ),
    ("The county took it over in {a}.", "{a}年由郡政府接管。"),
    ("A commemorative stamp appeared in {a}.", "{a}年发行了纪念邮票。"),
)
_USE = (
    ("Guided tours start on Saturdays at two o'clock.", "每周六下午两点有导览。"),
    ("The grounds are open from dawn to dusk.", "场地日出至日落开放。"),
    (
        "A café in the former store house opens from April to October.",
        "旧仓库内的咖啡馆四月至十月营业。",
    ),
    ("School classes visit free of charge on weekdays.", "工作日学校班级可免费参观。"),
    ("A society of friends looks after the building.", "友人协会负责照看建筑。"),
    ("The annual lantern evening takes place in November.", "每年十一月举行灯笼之夜。"),
)
_SUMMARIES = (
    ("wording", "润色"),
    ("typo", "错字"),
    ("added a source", "补充来源"),
    ("clearer", "表述更清楚"),
    ("link", "加链接"),
    ("tidied", "整理"),
)
_TALK = (
    ("Does anybody have a photograph from the opening day?", "有人有开幕当天的照片吗？"),
    ("The section on its present use reads like an advertisement.", "“现状”一节读起来像广告。"),
    (
        "I have put the year of the storm right; the parish books are clear.",
        "我已改正风暴的年份，教区记录写得很清楚。",
    ),
    (
        "Please do not mix it up with the other one of nearly the same name.",
        "请勿与名称相近的另一处混淆。",
    ),
)


def amount(number: int, unit: str) -> str:
    """Write a figure with its unit."""
    return f"{number:,}{unit}"


def populate(store: SiteStore, brief: SiteBrief) -> None:
    """Fill pages, key facts, categories, histories and guidelines."""
    draws = DrawStream("wiki", brief.seed)
    writer = _Writer(store, brief, draws)
    rules = draw_rules(draws, brief.clock.today)
    store.execute("CREATE TABLE _rules (data TEXT NOT NULL)")
    data = {
        key: value.isoformat() if hasattr(value, "isoformat") else value
        for key, value in rules._asdict().items()
    }
    store.insert("_rules", data=json.dumps(data))
    subjects = draw_subjects(_PAGES[brief.scale - 1], brief.split, brief.language, draws)
    near: dict[str, list[str]] = {}
    for subject in subjects:
        near.setdefault(subject.place, []).append(subject.name)
    for guideline in guidelines(rules, brief.language):
        writer.page(guideline.title, "guideline", guideline.sections)
    for place in places_of(brief.split, brief.language):
        if place in near:
            writer.place(place, near[place])
    for subject in subjects:
        writer.subject(subject, near[subject.place])
    for subject in draws.sample(subjects, len(subjects) // 8):
        writer.redirect(subject)
    writer.save()


class _Writer:
    """Composes pages and collects rows."""

    def __init__(self, store: SiteStore, brief: SiteBrief, draws: DrawStream) -> None:
        self.store, self.brief, self.draws = store, brief, draws
        self.zh = brief.language == "zh"
        self.logins = [person.login for person in brief.people]
        rng = generator_for("wiki names", brief.seed)
        self.names = [p.name for p in draw_people(40, brief.split, brief.language, rng)]
        self.pages: list[tuple[object, ...]] = []
        self.facts: list[tuple[object, ...]] = []
        self.sections: list[tuple[object, ...]] = []
        self.categories: list[tuple[object, ...]] = []
        self.revisions: list[tuple[object, ...]] = []
        self.talk: list[tuple[object, ...]] = []

    def page(
        self, title: str, kind: str, sections: tuple[tuple[str, str], ...], redirect: str = ""
    ) -> int:
        """Add a page; return its number."""
        number = len(self.pages) + 1
        self.pages.append((number, title, redirect, kind, self._moment(900)))
        for position, (heading, body) in enumerate(sections, 1):
            own = len(self.sections) + 1
            self.sections.append((own, number, position, heading, body))
        return number

    def place(self, name: str, buildings: list[str]) -> None:
        """Add the page of a town, which links to its buildings."""
        zh, draws = self.zh, self.draws
        shown = (
            "、".join(f"[[{b}]]" for b in buildings)
            if zh
            else ", ".join(f"[[{b}]]" for b in buildings)
        )
        people = draws.between(900, 41000)
        number = self.page(
            name,
            "article",
            (
                (
                    "概况" if zh else "Overview",
                    f"{name}是海岸郡的一座城镇，人口约{people:,}人。"
                    if zh
                    else f"{name} is a town in the county with about {people:,} inhabitants.",
                ),
                (
                    "名胜" if zh else "Sights",
                    f"城中及周边有{shown}。" if zh else f"In and around the town stand {shown}.",
                ),
            ),
        )
        self.categories.append((len(self.categories) + 1, number, "城镇" if zh else "Towns"))

    def subject(self, subject: Building, near: list[str]) -> None:
        """Add the page of a building."""
        zh, draws, language = self.zh, self.draws, self.brief.language
        values = []
        for fact in subject.kind.facts:
            if fact.kind == "person":
                values.append(draws.pick(self.names))
            else:
                number = draws.between(fact.low, fact.high)
                values.append(
                    str(number) if fact.kind == "year" else amount(number, fact.unit[language])
                )
        year = int(values[0])
        noun = subject.kind.name[language]
        lead = (
            f"{subject.name}是[[{subject.place}]]的一座{noun}，"
            f"{year}年{'创立' if subject.kind.key == 'museum' else '建成'}，由{values[2]}主持。"
            if zh
            else f"{subject.name} is a {noun.lower()} in [[{subject.place}]], dating from {year}. "
            f"It goes back to {values[2]}."
        )
        history = ("" if zh else " ").join(
            text[zh].format(
                a=draws.between(year - 12, min(2015, year + 90)), p=draws.pick(self.names)
            )
            for text in draws.sample(_HISTORY, draws.between(2, 4))
        )
        use = ("" if zh else " ").join(text[zh] for text in draws.sample(_USE, 2))
        others = [name for name in near if name != subject.name]
        if others and draws.chance(0.6):
            other = draws.pick(others)
            use += f"另见[[{other}]]。" if zh else f" See also [[{other}]]."
        own = len(self.sections)
        page = self.page(
            subject.name,
            "article",
            (
                ("概述" if zh else "Overview", lead),
                ("历史" if zh else "History", history),
                ("现状" if zh else "Present use", use),
            ),
        )
        for position, (fact, value) in enumerate(zip(subject.kind.facts, values, strict=True), 1):
            source = f"{SOURCES[draws.pick(list(SOURCES))][language]}, {draws.between(1994, 2025)}"
            self.facts.append(
                (len(self.facts) + 1, page, position, fact.label[language], value, source)
            )
        self.categories.append((len(self.categories) + 1, page, subject.kind.category[language]))
        for _ in range(draws.between(0, 3)):
            section = own + draws.between(1, 3)
            body = self.sections[section - 1][4]
            summary = draws.pick(_SUMMARIES)[zh]
            self.revisions.append(
                (
                    len(self.revisions) + 1,
                    page,
                    section,
                    draws.pick(self.logins),
                    self._moment(400),
                    summary,
                    self._older(str(body)),
                    body,
                )
            )
        if draws.chance(0.25):
            self.talk.append(
                (
                    len(self.talk) + 1,
                    page,
                    "comment",
                    draws.pick(self.logins),
                    self._moment(300),
                    draws.pick(_TALK)[zh],
                )
            )

    def redirect(self, subject: Building) -> None:
        """Add a second title that leads to a building."""
        noun = subject.kind.name[self.brief.language]
        short = subject.name.replace(noun, noun + "（旧名）" if self.zh else f"{noun} (old name)")
        self.page(short, "redirect", (), subject.name)

    def save(self) -> None:
        """Write the rows, revisions in the order of time."""
        insert = self.store.insert_many
        insert("pages", ("id", "title", "redirect", "kind", "created"), self.pages)
        insert("facts", ("id", "page", "position", "name", "value", "source"), self.facts)
        insert("sections", ("id", "page", "position", "heading", "body"), self.sections)
        insert("categories", ("id", "page", "name"), self.categories)
        ordered = sorted(self.revisions, key=lambda row: str(row[4]))
        insert(
            "revisions",
            ("id", "page", "part", "author", "created", "summary", "before", "after"),
            [(number, *row[1:]) for number, row in enumerate(ordered, 1)],
        )
        insert("talk", ("id", "page", "kind", "author", "created", "body"), self.talk)

    def _moment(self, days: int) -> str:
        back = timedelta(minutes=self.draws.between(1500, days * 1440))
        return (self.brief.clock.start - back).isoformat(" ", "seconds")

    def _older(self, text: str) -> str:
        """Return an earlier wording of a text."""
        parts = text.split("。" if self.zh else ". ")
        if len(parts) > 2:
            return ("。" if self.zh else ". ").join(parts[:-2]) + ("。" if self.zh else ".")
        return text.replace("，", "、", 1) if self.zh else text.replace(" is a ", " was a ", 1)

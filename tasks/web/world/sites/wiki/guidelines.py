"""The wiki's guidelines: rules that editors must find, date and combine."""

from datetime import date, timedelta
from typing import NamedTuple

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.web.world.draws import DrawStream
from hexathlon.tasks.web.world.gazetteer import SOURCES

__all__ = ["HISTORIC", "Guideline", "EditingRules", "draw_rules", "guidelines"]

HISTORIC = {"en": "Historic structures", "zh": "历史建筑"}
"""Category that the guideline on categories governs."""


class EditingRules(NamedTuple):
    """The decisive numbers of the guidelines in force."""

    ranking: tuple[str, ...]
    """Sources, the one with most authority first."""

    ranking_before: tuple[str, ...]
    ranking_proposed: tuple[str, ...]
    in_force: date
    before: date
    proposed: date
    historic_year: int
    historic_year_mills: int
    museum_rooms: int


class Guideline(NamedTuple):
    """One guideline page."""

    title: str
    sections: tuple[tuple[str, str], ...]


def draw_rules(draws: DrawStream, today: date) -> EditingRules:
    """Draw the rules; the three rankings differ."""
    order = list(SOURCES)
    ranking = tuple(draws.sample(order, 5))
    before = proposed = ranking
    while before == ranking:
        before = tuple(draws.sample(order, 5))
    while proposed in (ranking, before):
        proposed = tuple(draws.sample(order, 5))
    year = draws.between(1870, 1915)
    return EditingRules(ranking, before, proposed, today - timedelta(days=draws.between(60, 300)),
                 today - timedelta(days=draws.between(900, 1600)),
                 today + timedelta(days=draws.between(20, 80)), year,
                 year - draws.between(30, 60), draws.between(9, 15))  # fmt: skip


def guidelines(rules: EditingRules, language: Language) -> list[Guideline]:
    """Write the guideline pages."""
    zh = language == "zh"
    titles = ["Sources and evidence", "Which source counts", "Figures and where they come from"]
    if zh:
        titles = ["来源与证据", "以何种来源为准", "数据及其出处"]
    # The titles must not reveal which edition is in force.
    turn = rules.in_force.toordinal() % 3
    titles = titles[turn:] + titles[:turn]
    editions = (
        (rules.ranking, rules.in_force),
        (rules.ranking_before, rules.before),
        (rules.ranking_proposed, rules.proposed),
    )
    return [
        *(
            _sources(title, *edition, language)
            for title, edition in zip(titles, editions, strict=True)
        ),
        _categories(rules, zh),
        _moves(zh),
        _reverts(zh),
    ]


def _sources(title: str, ranking: tuple[str, ...], when: date, language: Language) -> Guideline:
    names = [SOURCES[key][language] for key in ranking]
    if language == "zh":
        day = f"{when.year}年{when.month}月{when.day}日"
        status = f"关于来源的指南，编辑会议通过，自{day}起施行；此前施行的各版届时失效。"
        return Guideline(title, (
            ("状态", status),
            ("来源的次序", "同一数据有多个来源时，采用次序最靠前的来源：" + "、".join(
                f"（{i}）{name}" for i, name in enumerate(names, 1)) + "。同一来源有多个年份时，采"
                                                                     "用最新年份。"),
            ("例外", "甲、“历史”一节记载过改建的，改建完成之前的来源对尺寸与数量不再适用；"
                   "完成当年及以后的来源照常适用。乙、建成、启用、通车、开业、创立等年份，"
                   f"只要“{SOURCES['register'][language]}”有记载，即以其为准，不论年代，"
                   f"也不受甲项影响。丙、“{SOURCES['board'][language]}”仅在别无适用来源时采用。"),
            ("在信息框中", "信息框写采用的值（连同单位），来源写作“名称, 年份”。"),
        ))  # fmt: skip
    month = f"{when.day} {when:%B %Y}"
    status = (
        f"Guideline on sources, adopted by the editors' meeting. In force from {month}; earlier "
        "editions lapse on that day."
    )
    return Guideline(title, (
        ("Status", status),
        ("Order of sources", "Where several sources give a figure, the first of this order is "
                             "used: "
         + "; ".join(f"({i}) {name}" for i, name in enumerate(names, 1))
         + ". Of several years of one source the latest is used."),
        ("Exceptions", "A. If the section History records a rebuilding, sources from years "
                       "before it was finished no longer count for sizes and numbers; sources "
                       "from that year or later do. B. For the year of opening, founding, "
                       f"completion or first lighting the {SOURCES['register'][language]} goes "
                       "before every other source wherever it gives one, however old, and A does "
                       f"not touch it. C. An {SOURCES['board'][language]} is used only if no "
                       "other source counts."),
        ("In the infobox", 'The key facts give the value used, with its unit, and the source as '
                           '"Name, year".'),
    ))  # fmt: skip


def _categories(rules: EditingRules, zh: bool) -> Guideline:
    name = HISTORIC["zh" if zh else "en"]
    if zh:
        return Guideline("分类指南", (
            ("一般原则", "每个建筑页面归入其种类的分类，例如“桥梁”。"),
            (name, f"建筑在{rules.historic_year}年之前建成、启用或创立的，另归入“{name}”。"
                   f"磨坊须早于{rules.historic_year_mills}年。"
                   f"博物馆只有展厅不少于{rules.museum_rooms}间才归入，且按同样的年份界限。"
                   "火车站从不归入，不论年代。年份以信息框为准。"),
            ("重定向", "重定向页不设分类。"),
        ))  # fmt: skip
    return Guideline("Categories", (
        ("In general", "Every page about a building is filed under its kind, such as Bridges."),
        (name, f"A building opened, built, completed, lit or founded before {rules.historic_year} "
               f"is also filed under {name}. For mills the year must lie before "
               f"{rules.historic_year_mills}. Museums are filed there only with "
               f"{rules.museum_rooms} rooms or more, and under the same limit of years. Railway "
               "stations never are, whatever their age. The year is the one in the key facts."),
        ("Redirects", "Redirect pages carry no category."),
    ))  # fmt: skip


def _moves(zh: bool) -> Guideline:
    if zh:
        return Guideline("命名与移动", (
            ("移动页面", "移动会把旧标题留作重定向。"),
            ("移动之后", "指向旧标题的重定向一律改指新标题，不留双重重定向。"
                     "条目正文中的链接改用新标题；指南页与讨论页中的链接保持不动。"),
            ("摘要", "因移动而修改正文时，摘要写“改链”。"),
        ))  # fmt: skip
    return Guideline("Naming and moves", (
        ("Moving a page", "A move leaves the old title behind as a redirect."),
        ("After a move", "Redirects that point to the old title are pointed to the new one, so "
                         "that no redirect leads to another. Links in the text of articles are "
                         "changed to the new title; links on guidelines and talk pages stay as "
                         "they are."),
        ("Summary", 'Edits of texts that only follow a move have the summary "relink".'),
    ))  # fmt: skip


def _reverts(zh: bool) -> Guideline:
    if zh:
        return Guideline("撤销编辑", (
            ("何时撤销", "可疑账号的编辑，凡无摘要而改动数字的，予以撤销。"
                     "有摘要并写明来源的予以保留，即使同一账号另有破坏。"),
            ("不撤销", "已被他人修正的编辑不再撤销：若现有内容与可疑编辑之前一致，则无需处理。"
                    "纯文字润色不撤销。"),
            ("无法撤销时", "同一部分后来另有无误的编辑而无法撤销的，只手动改回该数字及其原来源，"
                      "摘要写“恢复”。"),
        ))  # fmt: skip
    return Guideline("Reverting edits", (
        ("When to revert", "Of a doubtful account, edits that change a figure and have no "
                           "summary are reverted. Edits whose summary names a source stay, even "
                           "if the same account did damage elsewhere."),
        ("When not to", "What somebody has put right already is not reverted again: if the page "
                        "reads as it did before the doubtful edit, nothing is left to do. Mere "
                        "rewording is not reverted."),
        ("If it cannot be reverted", "Where a later edit of the same part stands in the way and "
                                     "is itself in order, only the "
         'figure is put back by hand, with the source it had before and the summary "restored".'),
    ))  # fmt: skip

"""The publication's policies: slots, review, pictures and corrections."""

from datetime import date, datetime, timedelta
from typing import NamedTuple

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.web.world.draws import DrawStream
from hexathlon.tasks.web.world.sites.cms.vocabulary import DESKS, label_of

__all__ = ["PressRules", "allowed_slots", "draw_press_rules", "policies"]


class PressRules(NamedTuple):
    """The decisive numbers of the policies in force."""

    slots: tuple[str, ...]
    """Times of day on Monday to Friday."""

    weekend_slot: str
    late_desk: str
    """Desk whose articles appear only in the last slot of a weekday."""

    weekday_desk: str
    """Desk whose articles never appear on a weekend."""

    notice_hours: int
    """Hours between scheduling and appearance, at least."""

    agency_days: int
    """Days after upload during which an agency's picture may be used."""

    free_desk: str
    """Desk that carries no advertising and may use pictures for non-commercial use."""

    old_slots: tuple[str, ...]


def draw_press_rules(draws: DrawStream) -> PressRules:
    """Draw the rules."""
    desks = draws.sample(DESKS, 3)
    slots = draws.pick(
        (("07:00", "12:00", "17:00"), ("06:30", "11:30", "18:00"), ("08:00", "13:00", "19:00"))
    )
    old = draws.pick((("07:30", "12:30", "17:30"), ("09:00", "15:00", "20:00")))
    return PressRules(
        slots,
        draws.pick(("09:00", "10:00")),
        desks[0],
        desks[1],
        draws.pick((18, 24, 30)),
        draws.pick((21, 30, 45)),
        desks[2],
        old,
    )


def allowed_slots(rules: PressRules, desk: str, now: datetime, days: int = 14) -> list[datetime]:
    """Return the slots of a desk in the next days, in order, taken ones included."""
    found = []
    for ahead in range(days):
        day = now.date() + timedelta(days=ahead)
        times = rules.slots[-1:] if rules.late_desk == desk else rules.slots
        if day.weekday() >= 5:
            times = () if desk in (rules.weekday_desk, rules.late_desk) else (rules.weekend_slot,)
        moments = [datetime.combine(day, datetime.strptime(text, "%H:%M").time()) for text in times]
        found += [each for each in moments if each >= now + timedelta(hours=rules.notice_hours)]
    return found


def policies(rules: PressRules, today: date, language: Language) -> list[tuple[str, str]]:
    """Write the policies: title and body, one paragraph per line."""
    return (_chinese if language == "zh" else _english)(rules, today)


def _in_turn(rules: PressRules, *titles: str) -> list[str]:
    """Order two titles, so that they do not show which edition is in force."""
    return sorted(titles, reverse=(rules.notice_hours + rules.agency_days) % 4 < 2)


def _english(rules: PressRules, today: date) -> list[tuple[str, str]]:
    late, weekday, free = (
        label_of(each, "en") for each in (rules.late_desk, rules.weekday_desk, rules.free_desk)
    )
    since, before = today - timedelta(days=75), today - timedelta(days=800)
    titles = _in_turn(rules, "Scheduling", "Slots and notice")
    return [
        (
            titles[0],
            f"In force since {since.day} {since:%B %Y}; what was laid down before lapses.\n1. On "
            f"Monday to Friday articles appear at {', '.join(rules.slots)}; on Saturday and "
            f"Sunday only at {rules.weekend_slot}.\n2. A slot takes one article.\n3. A section "
            f"has at most one article a day, whatever the slot.\n4. {late} appears only in the "
            f"last slot of a weekday. {weekday} never appears on a weekend.\n5. Between "
            f"scheduling and appearance lie at least {rules.notice_hours} hours, counted from the "
            "start of the working day at 09:00.\n6. No article appears before the day to which "
            "it is embargoed; on that day it may.\n7. An article takes the earliest slot that "
            "rules 1 to 6 leave it.",
        ),
        (
            titles[1],
            f"In force since {before.day} {before:%B %Y}; what was laid down before lapses.\n"
            f"Articles appear every day at {', '.join(rules.old_slots)}. A section may have two "
            "articles a day.",
        ),
        (
            "Review",
            "1. Every article has a reviewer before it is scheduled. The reviewer is an editor "
            "of the article's section and never its author.\n2. An editor who is away on the day "
            "the article appears does not review it. If that leaves nobody in the section, the "
            "deputy of the editor who is away takes over, from whatever section (if both are "
            "away, the deputy of the one who stands first on the team page); a deputy who wrote "
            "the article, or is away, gives way to the editor-in-chief.\n3. Of several editors "
            "the one who stands first on the team page reviews.",
        ),
        (
            "Pictures",
            "1. A published picture needs a description (alt text).\n2. Agency pictures may be "
            f"used for {rules.agency_days} days after upload, that day and the last one "
            f"included.\n3. CC BY-NC is for {free} only, the one section without advertising; "
            "there it is fine even if the article is featured.\n4. Own pictures and CC BY may be "
            "used by everybody. A CC BY picture without a credit may not.",
        ),
        (
            "Corrections",
            "1. A figure or name that was wrong when the article appeared is corrected in the "
            "text, and an erratum of the kind Correction is issued.\n2. If the article was right "
            "when it appeared and things changed later, the text stays; an erratum of the kind "
            "Clarification is issued.\n3. Opinion pieces keep their text in any case; they only "
            "get the erratum.\n4. An article has one erratum per matter. If the matter has one "
            "already, nothing more is done.",
        ),
    ]


def _chinese(rules: PressRules, today: date) -> list[tuple[str, str]]:
    late, weekday, free = (
        label_of(each, "zh") for each in (rules.late_desk, rules.weekday_desk, rules.free_desk)
    )
    since, before = today - timedelta(days=75), today - timedelta(days=800)
    titles = _in_turn(rules, "排期", "时段与提前量")
    return [
        (
            titles[0],
            f"自{since.year}年{since.month}月{since.day}日起施行，此前的规定失效。\n一、"
            f"周一至周五在{'、'.join(rules.slots)}发布；周六、周日仅在{rules.weekend_slot}发布。\n"
            "二、每个时段一篇文章。\n三、同一栏目每天至多一篇，不论时段。\n四、"
            f"“{late}”只在工作日最后一个时段发布；“{weekday}”周末从不发布。\n五、"
            f"排期与发布之间至少相隔{rules.notice_hours}小时，从当天上班时间09:00起算。\n六、"
            "不得早于禁发日期发布；禁发日期当天即可发布。\n七、文章取第一至六条所允许的最早时段。",
        ),
        (
            titles[1],
            f"自{before.year}年{before.month}月{before.day}日起施行，此前的规定失效。\n"
            f"每天在{'、'.join(rules.old_slots)}发布。同一栏目每天可发两篇。",
        ),
        (
            "审稿",
            "一、文章排期前须有审稿人。审稿人是该栏目的编辑，且不得是文章作者。\n二、"
            "文章发布当天不在岗的编辑不审该稿。若栏目因此无人可审，由不在岗编辑的代理人接手，"
            "不论其属哪个栏目（两位编辑都不在岗时，取团队页面上排在前面的那位的代理人）；"
            "代理人若为作者或也不在岗，则由主编审稿。\n三、有多位编辑可审时，"
            "由团队页面上排在最前的一位审稿。",
        ),
        (
            "图片",
            "一、发布的图片须有说明文字（替代文本）。\n二、"
            f"图片社图片自上传之日起{rules.agency_days}天内可用，首尾两日均计入。\n三、CC "
            f"BY-NC仅供无广告的“{free}”栏目使用；即使文章为头条亦可。\n四、自有图片与CC "
            "BY各栏目均可用；无署名的CC BY图片不可用。",
        ),
        (
            "更正",
            "一、文章发布时数字或名称即有误的，修改正文，并发布“更正”类勘误。\n二、发布时无误、"
            "后来情况变化的，正文不改，发布“说明”类勘误。\n三、观点类文章一律不改正文，只发勘误。"
            "\n四、同一事项只发一条勘误；已有勘误的，不再处理。",
        ),
    ]

"""The moderators' handbook: a ladder of sanctions with exceptions that interact."""

from datetime import date, timedelta
from typing import NamedTuple

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.web.world.draws import DrawStream

__all__ = ["Ladder", "draw_ladder", "handbook"]


class Ladder(NamedTuple):
    """The decisive numbers of the handbook in force."""

    window: int
    """Days for which earlier sanctions count."""

    short: int
    """Days of the first mute."""

    long: int
    """Days of the second mute."""

    years: int
    """Years of membership after which regulars are treated more gently."""

    new_days: int
    """Days for which a member counts as new."""

    old_window: int
    old_short: int
    old_long: int


def draw_ladder(draws: DrawStream) -> Ladder:
    """Draw the numbers."""
    return Ladder(draws.pick((90, 120, 180)), draws.pick((3, 4, 5)), draws.pick((10, 14, 21)),
                  draws.pick((2, 3)), draws.pick((14, 21, 30)), draws.pick((365, 60)),
                  draws.pick((2, 7)), draws.pick((12, 30)))  # fmt: skip


def handbook(ladder: Ladder, today: date, market: str, language: Language) -> list[tuple[str, str]]:
    """Write the handbook: title and body, one paragraph per line."""
    since, before = today - timedelta(days=48), today - timedelta(days=720)
    # The titles must not reveal which edition is in force.
    titles = ["处分阶梯", "处分"] if language == "zh" else ["Ladder of sanctions", "Sanctions"]
    if (ladder.window + ladder.short + ladder.long) % 2:
        titles.reverse()
    if language == "zh":
        return [
            (titles[0], f"自{since.year}年{since.month}月{since.day}日起适用，此前的规定失效。\n"
                        f"一、处分依次为：警告、禁言{ladder.short}天、禁言{ladder.long}天、封禁。"
                        f"\n二、过去{ladder.window}天内对该成员作出的每一次处分（包括警告，"
                        "不论因何规则；今天已作出的也算）都使新处分升高一级；封禁为最高级。"
                        "已撤销的处分不计。\n三、处分记在其所依据的帖子上。一个帖子只处分一次："
                        "该帖子若已有未撤销的处分，则举报照样成立，但不再处分。\n四、处分之后，"
                        "隐藏该帖子（若尚未隐藏），并以“成立”结案。"),
            (titles[1], f"自{before.year}年{before.month}月{before.day}日起适用，此前的规定失效。"
                        f"\n警告、禁言{ladder.old_short}天、禁言{ladder.old_long}天、封禁；"
                        f"计过去{ladder.old_window}天内的处分。"),
            ("例外", f"一、泄露个人信息起点高一级。\n二、加入论坛满{ladder.years}年的常驻成员低一级"
                   "，但不低于警告；泄露个人信息不适用此条。\n三、"
                   f"发帖时加入不满{ladder.new_days}天者发垃圾广告，直接封禁。\n四、"
                   "版主不由同事处分：对版主帖子的举报保持待处理，留给论坛管理层。"),
            ("规则适用", f"一、以帖子实际违反的规则为准，不论举报填写的理由。\n二、在“{market}”版块，"
                     "交易不违规；其他各版块均属违规。\n三、跑题从不处分：举报成立，帖子隐藏。\n"
                     "四、帖子不违反任何规则的，举报驳回，帖子保留。\n五、"
                     "转述他人违规内容并表示反对的，不算违规。"),
        ]  # fmt: skip
    return [
        (titles[0], f"In use since {since.day} {since:%B %Y}; what was written before lapses.\n1. "
                    f"Sanctions are, in this order: a warning, a mute of {ladder.short} days, a "
                    f"mute of {ladder.long} days, a ban.\n2. Each sanction issued against the "
                    f"member within the last {ladder.window} days (warnings too, whatever the "
                    "rule, those issued today included) raises the new one by a step; a ban is "
                    "the highest. Overturned sanctions do not count.\n3. A sanction is recorded "
                    "with the post it is for. A post is sanctioned once: if a sanction that was "
                    "not overturned names the post already, the report is upheld all the same, "
                    "and no sanction follows.\n4. After the sanction the post is hidden, unless "
                    "it is hidden already, and the report is closed as upheld."),
        (titles[1], f"In use since {before.day} {before:%B %Y}; what was written before lapses.\n"
                    f"Warning, mute of {ladder.old_short} days, mute of {ladder.old_long} days, "
                    f"ban; sanctions of the last {ladder.old_window} days count."),
        ("Exceptions", "1. Personal data starts one step higher.\n2. Regulars who joined at "
                       f"least {ladder.years} years ago get one step less, but never less than a "
                       "warning; not for personal data.\n3. Spam by a member who had joined less "
                       f"than {ladder.new_days} days before the post means a ban at once.\n4. "
                       "Moderators are not sanctioned by colleagues: a report about a "
                       "moderator's post stays open for the management."),
        ("Applying the rules", "1. What counts is the rule that the post breaks, whatever reason "
                               f"the report gives.\n2. On the board {market}, trading breaks no "
                               "rule; on every other board it does.\n3. Off-topic posts are "
                               "never sanctioned: the report is upheld and the post hidden.\n4. "
                               "If a post breaks no rule, the report is dismissed and the post "
                               "stays.\n5. Quoting somebody else's breach in order to object to "
                               "it is no breach."),
    ]  # fmt: skip

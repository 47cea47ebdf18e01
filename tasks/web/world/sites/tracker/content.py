"""Initial content of the tracker."""

from datetime import timedelta

import numpy as np

from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.world.site import SiteBrief
from hexathlon.tasks.web.world.sites.tracker.vocabulary import COMPONENTS, PRIORITIES, STATUSES
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["populate"]

_PROJECTS = (
    "Kestrel=红隼", "Marlin=马林", "Juniper=杜松", "Basalt=玄武", "Lantern=灯笼", "Otter=水獭",
    "Quartz=石英", "Saffron=藏红", "Tundra=冻原", "Willow=垂柳", "Cobalt=钴蓝", "Falcon=猎隼",
    "Ginkgo=银杏", "Heron=苍鹭", "Indigo=靛蓝", "Magnet=磁石",
)  # fmt: skip
_TROUBLES = (
    ("{a} fails after the {b}", "{b}之后{a}失败"),
    ("{a} shows an old value during the {b}", "{b}期间{a}显示旧值"),
    ("{b} is slow when {a} is open", "打开{a}时{b}很慢"),
    ("{a} loses the setting of the {b}", "{a}丢失{b}的设置"),
    ("Wrong total in {a} after the {b}", "{b}后{a}合计有误"),
    ("{a} cannot be opened while the {b} runs", "{b}运行时无法打开{a}"),
    ("{a} asks twice for the {b}", "{a}两次要求{b}"),
    ("Text cut off in {a} of the {b}", "{b}的{a}文字被截断"),
)
_THINGS = (
    "invoice view=发票页", "contact list=联系人列表", "day report=日报",
    "file upload=文件上传", "price table=价格表", "user menu=用户菜单",
    "map layer=地图图层", "audit log=审计日志", "tax form=税表",
    "photo import=照片导入", "team page=团队页", "stock chart=库存图",
)  # fmt: skip
_EVENTS = ("nightly backup=夜间备份", "data import=数据导入", "password change=改密",
           "upgrade=升级", "time change=时钟调整", "account merge=账户合并",
           "currency switch=货币切换",
           "second login=二次登录")  # fmt: skip
_RULES = (
    ("Close an issue only when its fix has been released.", "修复发布后才能关闭问题。"),
    ("Write titles that a customer would understand.", "标题要让客户也能看懂。"),
)
_REMARKS = (
    ("I can reproduce this on the test system.", "在测试环境可以复现。"),
    ("Happens only for accounts from before March.", "只影响三月之前的账户。"),
    ("Please add a log of the last run.", "请附上最近一次运行的日志。"),
    ("The fix of last week did not help.", "上周的修复没有作用。"),
    ("A customer asked about this again today.", "今天又有客户询问此事。"),
)


def populate(store: SiteStore, brief: SiteBrief) -> None:
    """Fill the tracker: 2 to 5 projects, 30 to 1,200 issues."""
    rng = generator_for("tracker", brief.seed)
    zh = brief.language == "zh"
    share = own_share(_PROJECTS, brief.split)
    count = min(len(share), 1 + brief.scale)
    names = [share[int(i)].split("=") for i in rng.permutation(len(share))[:count]]
    logins = [person.login for person in brief.people]
    milestones: dict[str, list[int]] = {}
    for english, chinese in names:
        key = english[:3].upper()
        store.insert(
            "projects",
            key=key,
            name=chinese if zh else english,
            lead=logins[int(rng.integers(len(logins)))],
            policy="",
        )
        body = _RULES[int(rng.integers(len(_RULES)))][zh]
        store.insert(
            "rules",
            project=key,
            since=f"{brief.clock.today.year - 1}-06-01",
            decided=logins[1],
            body=body,
        )
        milestones[key] = []
        for number in range(1, 2 + brief.scale):
            due = (brief.clock.today + timedelta(days=21 * number - 30)).isoformat()
            state = "closed" if number == 1 else "open"
            milestones[key].append(
                store.insert(
                    "milestones",
                    project=key,
                    name=f"{english} {brief.scale}.{number}",
                    due=due,
                    state=state,
                )
            )
    for place, login in enumerate(logins):
        deputy = logins[(place + 1 + int(rng.integers(len(logins) - 1))) % len(logins)]
        store.insert("staff", login=login, area=COMPONENTS[place % len(COMPONENTS)], deputy=deputy,
                     away_from="", away_until="")  # fmt: skip
    keys = list(milestones)
    total = (30, 120, 400, 1200)[brief.scale - 1]
    for number in range(101, 101 + total):
        key = keys[int(rng.integers(len(keys)))]
        age = timedelta(minutes=int(rng.integers(60, 60 * 24 * 200)))
        created = brief.clock.start - age
        updated = created + age * float(rng.random())
        store.insert(
            "issues",
            number=number,
            project=key,
            title=_title(rng, zh),
            body=_remark(rng, zh),
            status=STATUSES[int(rng.choice(6, p=(0.3, 0.15, 0.1, 0.08, 0.3, 0.07)))],
            priority=PRIORITIES[int(rng.choice(4, p=(0.08, 0.22, 0.5, 0.2)))],
            assignee="" if rng.random() < 0.2 else logins[int(rng.integers(len(logins)))],
            reporter=logins[int(rng.integers(len(logins)))],
            milestone=0 if rng.random() < 0.4 else int(rng.choice(milestones[key])),
            component=COMPONENTS[int(rng.integers(len(COMPONENTS)))],
            created=created.isoformat(" ", "seconds"),
            updated=updated.isoformat(" ", "seconds"),
        )
        followers: set[str] = set()
        for _ in range(int(rng.choice(4, p=(0.5, 0.25, 0.15, 0.1)))):
            follower = logins[int(rng.integers(len(logins)))]
            if follower not in followers:
                store.insert("watchers", issue=number, login=follower)
                followers.add(follower)
            author = logins[int(rng.integers(len(logins)))]
            store.insert(
                "comments",
                issue=number,
                author=author,
                body=_remark(rng, zh),
                created=updated.isoformat(" ", "seconds"),
            )


def _title(rng: np.random.Generator, zh: bool) -> str:
    pattern = _TROUBLES[int(rng.integers(len(_TROUBLES)))]
    thing, event = (
        items[int(rng.integers(len(items)))].split("=")[zh] for items in (_THINGS, _EVENTS)
    )
    text = pattern[zh].format(a=thing, b=event)
    return text[0].upper() + text[1:]


def _remark(rng: np.random.Generator, zh: bool) -> str:
    return _REMARKS[int(rng.integers(len(_REMARKS)))][zh]

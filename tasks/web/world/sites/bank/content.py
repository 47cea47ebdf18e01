"""Initial content of the bank."""

from datetime import date, timedelta

import numpy as np

from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.world.site import SiteBrief
from hexathlon.tasks.web.world.sites.bank.rules import add_rules, draw_settings
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["account_number", "populate"]

_TRANSACTIONS = (40, 160, 450, 1_100)
_FIRST = (
    "Nordlicht=北光",
    "Harbour=港湾",
    "Alpine=高山",
    "Cedar=雪松",
    "Union=联合",
    "Morgan=摩根",
    "Silver=银泉",
    "Oakfield=橡原",
    "Baltic=波罗的海",
    "Crown=皇冠",
    "Delta=三角洲",
    "Evergreen=长青",
    "Falcon=飞隼",
    "Granite=花岗",
    "Horizon=地平线",
    "Ivory=象牙",
    "Jasper=碧玉",
    "Keystone=拱心石",
    "Lakeside=湖畔",
    "Meridian=子午",
)
_SECOND = (
    "Energy=能源", "Energy Services=能源服务", "Insurance=保险", "Telecom=电信", "Books=书店",
    "Fitness=健身", "Water=水务", "Housing=住房", "Media=传媒", "Market=超市", "Pharmacy=药房",
    "Garden=园艺", "Rail=铁路", "Dental=牙科", "Music=音乐", "Cleaning=保洁",
)  # fmt: skip
_PURPOSES = (
    ("Invoice {n}", "账单 {n}"),
    ("Customer {n}", "客户号 {n}"),
    ("Contract {n}", "合同 {n}"),
    ("Order {n}", "订单 {n}"),
    ("Membership {n}", "会员号 {n}"),
)
_PROJECTS = ("Lighthouse=灯塔", "Orchard=果园", "Compass=罗盘", "Bridge=桥梁", "Harvest=丰收",
             "Meadow=草场", "Summit=峰会", "Anchor=船锚", "Prism=棱镜", "Beacon=信标")  # fmt: skip
_CITIES = ("Aldham=安岭", "Berrow=白洛", "Corvale=科谷", "Dunmere=敦湖", "Esterby=东庭")
_NEWS = (
    ("Our app has a new start page", "手机银行首页更新", "You find your accounts faster now.",
     "现在查看账户更快捷。"),
    ("Beware of false calls", "谨防诈骗电话", "We never ask for your password on the phone.",
     "我行绝不会在电话中索要密码。"),
    ("Branch hours in summer", "网点夏季营业时间", "Branches close at four on Fridays.",
     "周五网点下午四点关门。"),
)  # fmt: skip


def account_number(rng: np.random.Generator) -> str:
    """Draw an account number in four groups."""
    groups = rng.integers(0, 10_000, size=3).tolist()
    return f"AB{int(rng.integers(10, 99))} " + " ".join(f"{group:04d}" for group in groups)


def populate(store: SiteStore, brief: SiteBrief) -> None:
    """Fill the bank: 40 to 1,100 bookings on two to four accounts."""
    rng = generator_for("bank", brief.seed)
    zh = brief.language == "zh"
    today = brief.clock.today
    settings = draw_settings(rng)
    cities = [city.split("=")[zh] for city in _CITIES]
    add_rules(
        store,
        settings,
        brief.language,
        cities[int(rng.integers(len(cities)))],
        (today - timedelta(days=int(rng.integers(60, 500)))).isoformat(),
    )
    firms = _firms(brief, rng)
    accounts = _accounts(store, brief, rng)
    _cards(store, brief, rng, accounts)
    _bookings(store, brief, rng, accounts, firms)
    _payees(store, brief, rng, firms)
    _standing(store, brief, rng, accounts[0], firms)
    _claims(store, brief, rng, cities)
    for place in range(min(3, brief.scale)):
        title_en, title_zh, body_en, body_zh = _NEWS[place]
        day = today - timedelta(days=int(rng.integers(2, 90)))
        store.insert(
            "messages",
            person=brief.people[0].login,
            day=day.isoformat(),
            sender="桤木银行" if zh else "Alder Bank",
            subject=title_zh if zh else title_en,
            body=body_zh if zh else body_en,
        )


def _firms(brief: SiteBrief, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Names and accounts of firms; several names share a prefix."""
    zh = brief.language == "zh"
    first = [name.split("=")[zh] for name in own_share(_FIRST, brief.split)]
    names = [
        f"{one}{'' if zh else ' '}{other.split('=')[zh]}" for one in first for other in _SECOND
    ]
    count = (10, 20, 36, 60)[brief.scale - 1]
    return [(names[int(i)], account_number(rng)) for i in rng.permutation(len(names))[:count]]


def _accounts(store: SiteStore, brief: SiteBrief, rng: np.random.Generator) -> list[str]:
    zh = brief.language == "zh"
    labels = (
        ("Everyday", "日常"),
        ("Rainy days", "备用金"),
        ("Household", "家用"),
        ("Travel", "旅行"),
    )
    kinds = ("current", "savings", "joint", "savings")
    numbers = []
    for place in range(min(4, 1 + brief.scale)):
        numbers.append(account_number(rng))
        store.insert(
            "accounts",
            number=numbers[-1],
            person=brief.people[0].login,
            name=labels[place][zh],
            kind=kinds[place],
            balance=int(rng.integers(300_000, 1_500_000)),
        )
    return numbers


def _cards(
    store: SiteStore, brief: SiteBrief, rng: np.random.Generator, accounts: list[str]
) -> None:
    zh = brief.language == "zh"
    labels = (
        ("Everyday card", "日常卡"),
        ("Travel card", "旅行卡"),
        ("Online card", "网购卡"),
        ("Family card", "家庭卡"),
        ("Old travel card", "旧旅行卡"),
    )
    for place in range(1 + brief.scale):
        number = f"{int(rng.integers(1000, 9999))}"
        if store.row("SELECT 1 FROM cards WHERE number = ?", (number,)):
            continue
        store.insert(
            "cards", number=number, account=accounts[0 if place % 2 == 0 else -1],
            name=labels[place][zh], kind=("debit", "credit")[place % 2], state="active",
            day_limit=int(rng.choice((50_000, 100_000, 150_000))),
            month_limit=int(rng.choice((200_000, 300_000, 500_000))), abroad=int(rng.integers(2)),
            online=int(rng.integers(2)), reason="",
        )  # fmt: skip


def _bookings(
    store: SiteStore,
    brief: SiteBrief,
    rng: np.random.Generator,
    accounts: list[str],
    firms: list[tuple[str, str]],
) -> None:
    zh = brief.language == "zh"
    today = brief.clock.today
    count = _TRANSACTIONS[brief.scale - 1]
    days = np.sort(rng.integers(1, 200, size=count))[::-1].tolist()
    rows = []
    for place in range(count):
        name, other = firms[int(rng.integers(len(firms)))]
        kind = ("card", "transfer", "standing", "refund")[
            int(rng.choice(4, p=(0.6, 0.2, 0.15, 0.05)))
        ]
        amount = int(np.exp(rng.normal(8.2, 0.9)))
        account = accounts[int(rng.choice(len(accounts), p=_shares(len(accounts))))]
        purpose = _PURPOSES[int(rng.integers(len(_PURPOSES)))][zh].format(
            n=int(rng.integers(10_000, 99_999))
        )
        booked = (today - timedelta(days=int(days[place]))).isoformat()
        rows.append(
            (
                account,
                booked,
                name,
                other,
                purpose,
                "",
                amount if kind == "refund" else -amount,
                0,
                kind,
                "booked",
            )
        )
    rows.sort(key=lambda row: row[1])
    store.insert_many(
        "transactions",
        (
            "account",
            "booked",
            "counterparty",
            "counter_account",
            "purpose",
            "reference",
            "amount",
            "fee",
            "kind",
            "state",
        ),
        rows,
    )


def _shares(count: int) -> list[float]:
    return [0.7, *([0.3 / (count - 1)] * (count - 1))]


def _payees(
    store: SiteStore, brief: SiteBrief, rng: np.random.Generator, firms: list[tuple[str, str]]
) -> None:
    for name, account in firms[: (6, 12, 20, 36)[brief.scale - 1]]:
        added = brief.clock.today - timedelta(days=int(rng.integers(20, 900)))
        store.insert("payees", person=brief.people[0].login, name=name, account=account, note="",
                     blocked="", added=added.isoformat())  # fmt: skip


def _standing(
    store: SiteStore,
    brief: SiteBrief,
    rng: np.random.Generator,
    account: str,
    firms: list[tuple[str, str]],
) -> None:
    zh = brief.language == "zh"
    for name, other in firms[: (3, 6, 12, 20)[brief.scale - 1]]:
        purpose = _PURPOSES[int(rng.integers(len(_PURPOSES)))][zh].format(
            n=int(rng.integers(10_000, 99_999))
        )
        following = brief.clock.today + timedelta(days=int(rng.integers(2, 80)))
        rhythm = ("monthly", "quarterly", "yearly")[int(rng.choice(3, p=(0.7, 0.2, 0.1)))]
        state = "paused" if rng.random() < 0.15 else "active"
        store.insert("standing", account=account, payee=name, payee_account=other, purpose=purpose,
                     amount=int(rng.integers(8, 160)) * 100 + 90, rhythm=rhythm,
                     next=following.isoformat(), state=state, bound="")  # fmt: skip


def _claims(
    store: SiteStore, brief: SiteBrief, rng: np.random.Generator, cities: list[str]
) -> None:
    zh, today = brief.language == "zh", brief.clock.today
    names = [name.split("=")[zh] for name in own_share(_PROJECTS, brief.split)] or ["Prism"]
    people = [person.login for person in brief.people]
    codes = []
    for place in range(2 + brief.scale):
        category = ("travel", "supplies", "training", "travel")[place % 4]
        name = f"{names[place % len(names)]} {brief.clock.today.year}-{1 + place}"
        code = f"P{int(rng.integers(100, 999))}{place}"
        codes.append(code)
        store.insert(
            "projects",
            code=code,
            name=name,
            manager=people[int(rng.integers(len(people)))],
            state="closed" if place == 2 else "open",
            category=category,
        )
    titles = {
        "meal": ("Lunch with {c} team", "与{c}团队午餐"),
        "hotel": ("Night in {c}", "{c}住宿"),
        "travel": ("Train to {c}", "去{c}的火车"),
        "supplies": ("Cables and paper, {c}", "{c}线材纸张"),
        "training": ("Course in {c}", "{c}课程"),
    }
    rows = []
    for _ in range((6, 20, 60, 140)[brief.scale - 1]):
        category = list(titles)[int(rng.integers(len(titles)))]
        city = cities[int(rng.integers(len(cities)))]
        spent: date = today - timedelta(days=int(rng.integers(20, 190)))
        amount = int(rng.integers(9, 130)) * 100 + int(rng.integers(0, 100))
        rows.append(
            (
                people[int(rng.integers(len(people)))],
                titles[category][zh].format(c=city),
                category,
                spent.isoformat(),
                amount,
                codes[int(rng.integers(len(codes)))],
                0,
                city,
                "",
                "",
                "approved",
                amount,
                "",
                "",
                (spent + timedelta(days=6)).isoformat(),
            )
        )
    store.insert_many(
        "claims",
        (
            "person",
            "title",
            "category",
            "spent",
            "amount",
            "project",
            "guests",
            "city",
            "receipt",
            "content",
            "state",
            "approved",
            "code",
            "note",
            "created",
        ),
        rows,
    )

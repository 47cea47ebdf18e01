"""Accounts, entries, payees and cards of a new phone."""

from hexathlon.tasks.gui.world.apps.bank.merchants import EMPLOYERS, MERCHANTS, PAYEE_FIRMS
from hexathlon.tasks.gui.world.phone.app import ContentDraws

__all__ = ["seed_bank"]

_REFERENCES = ("Rent share|房租分摊", "Birthday|生日", "Concert tickets|音乐会门票", "Dinner|晚餐",
               "Holiday flat|度假公寓", "Loan back|还款", "Gift for Mum|妈妈的礼物",
               "Football fees|足球会费")  # fmt: skip
_CONTRACTS = ("Electricity|电费", "Rent|房租", "Internet|宽带", "Insurance|保险费",
              "Membership|会费", "Water|水费")  # fmt: skip


def _number(draws: ContentDraws) -> str:
    parts = (draws.between(1000, 9999) for _ in range(4))
    return " ".join(map(str, parts))


def seed_bank(draws: ContentDraws) -> None:
    """Draw the tables of the bank."""
    side = 1 if draws.language == "zh" else 0
    for en, zh, low, high in (
        ("Current account", "活期账户", 900, 4200),
        ("Savings", "储蓄账户", 2000, 15000),
        ("Joint account", "联名账户", 300, 1900),
    )[: 2 + draws.scale // 2]:
        draws.add("accounts", name=draws.say(en, zh), number=_number(draws),
                  balance=draws.between(low * 100, high * 100))  # fmt: skip
    for number, (en, zh) in enumerate(
        (("Everyday card", "日常卡"), ("Travel card", "旅行卡"), ("Spare card", "备用卡"))[
            : 2 + draws.scale // 3
        ]
    ):
        draws.add("cards", name=draws.say(en, zh), last=str(draws.between(1000, 9999)),
                  valid=f"{draws.between(1, 12):02d}/{draws.between(27, 31)}", account=1,
                  frozen=False, online=True, abroad=number == 1,
                  limit=100 * draws.between(3, 15))  # fmt: skip
    _seed_payees(draws, side)
    _seed_entries(draws, side)
    for name, value in (("hide_balances", False), ("notify_card", True), ("monthly_mail", True)):
        draws.add("prefs", id=name, value=value)


def _seed_payees(draws: ContentDraws, side: int) -> None:
    firms = draws.sample(draws.own(PAYEE_FIRMS), 2 + draws.scale)
    for firm in firms:
        draws.add("payees", name=firm.split("|")[side], number=_number(draws), nick="")
    people = draws.sample(draws.rows("contacts.contacts"), 3 + 2 * draws.scale)
    for person in people:
        draws.add("payees", name=person["name"], number=_number(draws), nick="")
    # One person has two accounts, as people do.
    twice = people[0]["name"]
    draws.add("payees", name=twice, number=_number(draws), nick=draws.say("old", "旧账户"))
    for key in range(1, len(firms) + 1):
        if key > 1 + draws.scale:
            break
        draws.add("standing", payee=key, amount=draws.between(900, 9800) * 10,
                  reference=draws.pick(_CONTRACTS).split("|")[side] + f" {draws.between(100, 999)}",
                  day=draws.between(1, 28), account=1, active=draws.chance(0.8))  # fmt: skip


def _seed_entries(draws: ContentDraws, side: int) -> None:
    merchants = draws.sample(draws.own(MERCHANTS), 8 + 2 * draws.scale)
    people = {row["name"] for row in draws.rows("contacts.contacts")}
    payees = [row for row in draws.rows("payees") if row["name"] in people]
    cards = draws.rows("cards")
    employer = draws.pick(draws.own(EMPLOYERS)).split("|")[side]
    found: list[dict[str, object]] = []
    for month in range(1 + draws.scale // 2):
        found.append({"day": -30 * month - draws.between(3, 9), "title": employer,
                      "amount": draws.between(2100, 4200) * 100, "kind": "salary",
                      "reference": draws.say("Salary", "工资"), "account": 1})  # fmt: skip
    for _ in range(16 + 14 * draws.scale):
        name, category = draws.pick(merchants)
        low, high = {"food": (480, 4800), "groceries": (900, 9900), "transport": (240, 3900),
                     "health": (600, 8900)}.get(category, (900, 14900))  # fmt: skip
        found.append(
            {
                "day": -draws.between(1, 12 + 12 * draws.scale),
                "account": 1,
                "title": name.split("|")[side],
                "amount": -draws.between(low, high),
                "kind": "card",
                "category": category,
                "card": draws.pick(cards)["id"],
            }
        )
    for _ in range(3 + 2 * draws.scale):
        payee = draws.pick(payees)
        found.append({"day": -draws.between(1, 45), "title": payee["name"],
                      "amount": -draws.between(8, 240) * 100, "kind": "transfer",
                      "reference": draws.pick(_REFERENCES).split("|")[side],
                      "account": draws.between(1, 2)})  # fmt: skip
    for order in draws.rows("shop.orders"):
        if order["status"] != "cancelled":
            found.append({"day": order["day"], "title": draws.say("Marlo Shop", "马洛商城"),
                          "amount": -order["total"], "kind": "card", "category": "shopping",
                          "reference": order["number"], "account": 1, "card": 1})  # fmt: skip
    blank = {"reference": "", "note": "", "disputed": "", "card": 0, "category": ""}
    for entry in found:
        if isinstance(entry["day"], int):
            entry["day"] = draws.day(entry["day"])
    for entry in sorted(found, key=lambda entry: str(entry["day"])):
        draws.add("entries", **{**blank, **entry})

"""Pages of the desk of one conversation, in the look of the episode."""

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.shopping.world.looks import LOOKS, labelled_rows
from hexathlon.tasks.shopping.world.tables import Record, Tables
from hexathlon.tasks.shopping.world.talk.goods import COLOURS, goods_name
from hexathlon.tasks.shopping.world.wording import TIERS, address_text, money, say

__all__ = ["account_page", "order_page", "variants_page"]

_STATUS = {"pending": "待发货", "shipped": "运输中", "delivered": "已签收"}
_STATES = {
    "ordered": "", "cancelled": "已取消", "cancelled damaged": "已取消（破损）",
    "returned": "已退货", "returned damaged": "已退货（破损）", "exchanged": "已换货",
    "matched": "已退差价",
}  # fmt: skip


def account_page(account: Record, tables: Tables, look: str, language: Language) -> str:
    """Return an account with its orders."""
    head = (
        f"{account['id']}  {account['name']}  "
        f"{say(language, 'tier: ', '等级：')}{say(language, *TIERS[account['tier']])}"
        f"{say(language, '; points: ', '；积分：')}{account['points']}"
    )
    orders = [tables.get("orders", key) or {} for key in account["orders"]]
    rows = [
        {
            "id": order["id"],
            "status": say(language, order["status"], _STATUS[order["status"]]),
            "placed": str(order["placed"]),
            "goods": say(language, ", ", "、").join(
                goods_name(line["goods"], language) for line in order["lines"]
            ),
        }
        for order in orders
    ]
    labels = {
        "status": say(language, "status", "状态"),
        "placed": say(language, "ordered on day", "下单日"),
        "goods": say(language, "goods", "商品"),
    }
    return f"{head}\n{labelled_rows(rows, LOOKS[look], language, labels)}"


def order_page(order: Record, look: str, language: Language) -> str:
    """Return everything that an order's page shows."""
    status, days = order["status"], (order["placed"], order["promised"])
    lines = [
        f"{order['id']}  {say(language, status, _STATUS[status])}"
        + say(language, "; ordered on day {}; promised for day {}", "；第{}天下单，承诺第{}天送达")
        .format(*days),
        f"{say(language, 'address: ', '地址：')}{address_text(order['address'], language)}",
    ]  # fmt: skip
    coupon = order["coupon"]
    if coupon:
        off, least = money(coupon["off"], language), money(coupon["min"], language)
        lines.append(say(language, f"coupon: {off} off from {least}", f"优惠券：满{least}减{off}"))
    fee, charged = money(order["fee"], language), money(order["fee_charged"], language)
    lines.append(say(language, f"delivery fee {fee}, charged {charged}",
                     f"运费{fee}，实收{charged}"))  # fmt: skip
    gift = money(order["gift_paid"], language)
    lines.append(say(language, f"paid with the gift card: {gift}; the rest by card",
                     f"礼品卡支付{gift}，其余刷卡"))  # fmt: skip
    given, carded = (money(cents, language) for cents in order["refunds"])
    goodwill = money(order["goodwill"], language)
    lines.append(say(language, f"refunded: gift card {given}, card {carded}; goodwill {goodwill}",
                     f"已退：礼品卡{given}，银行卡{carded}；补偿{goodwill}"))  # fmt: skip
    rows = []
    for line in order["lines"]:
        marks = [say(language, "final sale", "特价")] if line["final"] else []
        marks += [say(language, line["state"], _STATES[line["state"]])] * (
            line["state"] != "ordered"
        )
        rows.append({
            "id": f"{order['id']}/{line['line']}",
            "goods": goods_name(line["goods"], language),
            "colour": COLOURS[line["colour"]][language == "zh"],
            "price": money(line["cents"], language),
            "marks": ", ".join(marks) or "-",
        })  # fmt: skip
    labels = {
        "goods": say(language, "goods", "商品"),
        "colour": say(language, "colour", "颜色"),
        "price": say(language, "price paid", "成交价"),
        "marks": say(language, "remarks", "备注"),
    }
    return "\n".join([*lines, labelled_rows(rows, LOOKS[look], language, labels)])


def variants_page(line: Record, tables: Tables, look: str, language: Language) -> str:
    """Return the variants of goods with today's price and stock."""
    rows = []
    for key in tables.keys("variants"):
        variant = tables.get("variants", key) or {}
        if variant["goods"] == line["goods"]:
            rows.append({
                "id": key,
                "colour": COLOURS[variant["colour"]][language == "zh"],
                "price": money(variant["cents"], language),
                "stock": str(variant["stock"]),
            })  # fmt: skip
    labels = {
        "colour": say(language, "colour", "颜色"),
        "stock": say(language, "in stock", "库存"),
    }
    return labelled_rows(rows, LOOKS[look], language, labels)

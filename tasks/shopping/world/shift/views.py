"""Texts of the counter's records in both languages."""

from collections.abc import Iterable, Mapping, Sequence

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Catalogue
from hexathlon.tasks.shopping.world.facts import category_of
from hexathlon.tasks.shopping.world.looks import LOOKS, MarketRow, labelled_rows
from hexathlon.tasks.shopping.world.shift.policy import Memo, clock
from hexathlon.tasks.shopping.world.tables import Record
from hexathlon.tasks.shopping.world.wording import (
    STATUSES,
    TIERS,
    address_text,
    chosen_text,
    days_text,
    money,
    say,
)

__all__ = ["CARRIERS", "PARTS", "account_text", "carrier_label",
    "category_label", "customer_text", "memo_text", "memos_text", "offers_text",
           "order_heading", "order_text", "parcel_text", "part_label", "sellers_text", "slot_text",
           "variants_text", "warranty_text"]  # fmt: skip

_STATES = {"ordered": "", "cancelled": "已取消", "returned": "已退货",
           "returned damaged": "已退货（破损）", "exchanged": "已换货"}  # fmt: skip

CARRIERS = {"post": "邮政", "courier": "快递", "locker": "自提柜"}
"""Names of carriers in Chinese."""


def carrier_label(carrier: str, language: Language) -> str:
    """Return the name of a carrier."""
    return say(language, carrier, f"{carrier}（{CARRIERS[carrier]}）")


def category_label(slug: str, language: Language) -> str:
    """Return the name of a category."""
    return category_of(slug).text[language]


def order_heading(order: Record, language: Language) -> str:
    """Return an order's state and days on one line."""
    status = say(language, order["status"], STATUSES[order["status"]])
    return f"{order['id']}  {status}  {days_text(order, language)}"


def customer_text(
    record: Record, orders: Iterable[Record], catalogue: Catalogue, look: str, language: Language
) -> str:
    """Return an account with its orders and the kinds of goods in them."""
    methods = say(language, ", ", "、").join(record["payments"])
    lines = [
        f"{record['id']}  {record['name']}  {record['email']}  "
        f"{say(language, 'tier: ', '等级：')}{say(language, *TIERS[record['tier']])}",
        address_text(record["address"], language),
        f"{say(language, 'payment methods: ', '支付方式：')}{methods}",
    ]
    rows = []
    for order in orders:
        kinds = [_kind(catalogue, line["product"], language) for line in order["lines"]]
        rows.append({
            "id": order["id"],
            "status": say(language, order["status"], STATUSES[order["status"]]),
            "dates": days_text(order, language),
            "goods": say(language, ", ", "、").join(kinds),
        })  # fmt: skip
    return "\n".join([*lines, labelled_rows(rows, LOOKS[look], language)])


def order_text(order: Record, catalogue: Catalogue, look: str, language: Language) -> str:
    """Return everything that an order's page shows."""
    place = address_text(order["address"], language)
    held = say(language, "confirmed", "已确认") if order["confirmed"] else say(
        language, "not confirmed", "未确认")  # fmt: skip
    lines = [
        order_heading(order, language),
        f"{say(language, 'customer: ', '顾客：')}{order['customer']}",
        say(language, f"address: {place} ({held})", f"地址：{place}（{held}）"),
        f"{say(language, 'carrier: ', '承运商：')}{carrier_label(order['carrier'], language)}"
        f"{say(language, '; gift note: ', '；卡片留言：')}{order['note'] or '-'}",
    ]
    rows = [_line_row(line, catalogue, language) for line in order["lines"]]
    labels = {"price": say(language, "price paid", "成交价")}
    lines.append(labelled_rows(rows, LOOKS[look], language, labels))
    coupon = order["coupon"]
    if coupon:
        known = say(
            language,
            f"coupon {coupon['code']}: {money(coupon['off_cents'], language)} off from "
            f"{money(coupon['min_cents'], language)}; on the order: ",
            f"优惠券 {coupon['code']}：满{money(coupon['min_cents'], language)}减"
            f"{money(coupon['off_cents'], language)}；订单上：",
        )
        lines.append(known + (", ".join(order["coupons"]) or "-"))
    lines.append(
        say(
            language,
            "delivery fee: {}, charged {}; paid {} ({})",
            "运费{}，实收{}；已付{}（{}）",
        ).format(
            *(money(order[name], language) for name in ("delivery_cents", "fee_cents",
                                                        "paid_cents")),
            order["payment"],
        )
    )  # fmt: skip
    booked = say(language, ", ", "、").join(
        f"{name} {money(cents, language)}" for name, cents in sorted(order["refunds"].items())
    )
    lines.append(f"{say(language, 'refunds: ', '退款：')}{booked or '-'}")
    if order["photo"]:
        photo = say(language, "photo of line {}", "照片：第{}行").format(order["photo"])
        lines.append(photo)
    return "\n".join(lines)


PARTS: Mapping[str, tuple[str, str]] = {
    "morning": ("in the morning", "上午"),
    "afternoon": ("in the afternoon", "下午"),
    "evening": ("in the evening", "晚上"),
}
"""Parts of a day for appointments."""


def part_label(part: str, language: Language) -> str:
    """Return a part of the day as people say it."""
    return say(language, *PARTS[part])


def slot_text(slot: Record, language: Language) -> str:
    """Return an appointment."""
    return say(
        language,
        f"day {slot['day']}, {slot['part']}",
        f"第{slot['day']}天{PARTS[slot['part']][1]}（{slot['part']}）",
    )


def account_text(
    record: Record, card: Record, base: Mapping[str, Mapping[str, Record]], language: Language
) -> str:
    """Return an account's points and gift card, now and in the morning."""
    key = record["id"]
    points, before = record["points"], base["customers"][key]["points"]
    now, opening = (money(each["balance_cents"], language) for each in (card, base["cards"][key]))
    return say(
        language,
        f"points: {points} (this morning {before}); "
        f"gift card {card['card']}: {now} (this morning {opening})",
        f"积分：{points}（今早{before}）；礼品卡{card['card']}：{now}（今早{opening}）",
    )


def parcel_text(parcel: Record, morning: Record, language: Language) -> str:
    """Return a parcel's label and appointment, now and in the morning."""
    now, before = (
        f"{address_text(each['label'], language)}"
        f"{say(language, '; appointment: ', '；预约：')}{slot_text(each['slot'], language)}"
        for each in (parcel, morning)
    )
    return f"{parcel['order']}  " + say(
        language, f"label: {now}\n(this morning: {before})", f"面单：{now}\n（今早：{before}）"
    )


def warranty_text(warranty: Record, morning: Record, language: Language) -> str:
    """Return the variants under warranty by line, now and in the morning."""
    head, ended = say(language, "warranty", "保修登记"), say(language, "none", "无")
    entry = say(language, "line {}: {} (this morning: {})", "第{}行：{}（今早：{}）")
    entries = [
        entry.format(number, variant or ended, morning["lines"][number])
        for number, variant in warranty["lines"].items()
    ]
    return "\n".join([f"{warranty['order']}  {head}", *entries])


def variants_text(
    product_id: str, stock: Mapping[str, int], catalogue: Catalogue, look: str, language: Language
) -> str:
    """Return the variants of an item with the units in stock."""
    product = catalogue.product(product_id)
    rows = [
        {
            "id": variant.id,
            "chosen": chosen_text(product, variant, language),
            "stock": f"{stock[variant.id]}",
        }
        for variant in product.variants
    ]
    return f"{product.title[language]}\n{labelled_rows(rows, LOOKS[look], language)}"


def memos_text(memos: Sequence[Memo], language: Language) -> str:
    """Return the memos that have appeared."""
    if not memos:
        return say(language, "There are no memos.", "暂无通知。")
    return "\n".join(memo_text(memo, language) for memo in memos)


def memo_text(memo: Memo, language: Language) -> str:
    """Return one memo with its number, time and author."""
    authors = {"head of service": "客服主管", "warehouse": "仓库", "shop floor": "门店"}
    head = f"{memo.id}  {clock(memo.at)}  " + say(language, memo.author, authors[memo.author])
    return f"{head}{say(language, ': ', '：')}{_memo_body(memo, language)}"


def _days(number: int) -> str:
    return f"{number} day{'s' * (number != 1)}"


def _memo_body(memo: Memo, language: Language) -> str:
    until = memo.end < 24 * 60
    start, end = clock(memo.start), clock(memo.end)
    en = f"From {start} until {end} today" if until else f"From {start} today"
    zh = f"今天{start}起至{end}止" if until else f"今天{start}起"
    goods_en = goods_zh = ""
    if memo.scope:
        label = category_of(memo.scope).text
        goods_en, goods_zh = f" of the category {label['en']}", f"品类“{label['zh']}”的"
    amount = money(memo.value, language)
    texts = {
        "window": (
            f"{en}, goods{goods_en} can be returned within {_days(memo.value)} of delivery; the "
            "additional days of Plus members stay.",
            f"{zh}，{goods_zh}商品的退货期限为签收后{memo.value}天；Plus会员的额外天数不变。",
        ),
        "cash": (
            f"{en}, refunds of returns go to the payment method of the order up to "
            f"{_days(memo.value)} after delivery, later to the gift card.",
            f"{zh}，签收{memo.value}天内的退货退款退回订单的支付方式，之后退到礼品卡。",
        ),
        "late": (
            f"{en}, an order counts as late if it came more than {_days(memo.value)} after the "
            "promised day."
            if memo.value
            else f"{en}, an order counts as late if it came after the promised day.",
            f"{zh}，订单比承诺日晚到超过{memo.value}天才算延误。"
            if memo.value
            else f"{zh}，订单晚于承诺日到就算延误。",
        ),
        "goodwill": (
            f"{en}, the goodwill payment is {amount}.",
            f"{zh}，补偿金额为{amount}。",
        ),
        "suspend": (
            f"{en}, exchanges of goods{goods_en} are suspended.",
            f"{zh}，{goods_zh}商品暂停换货。",
        ),
        "final": (
            f"{en}, final-sale goods{goods_en} can be returned like any others.",
            f"{zh}，{goods_zh}特价商品可以像其他商品一样退货。",
        ),
        "withdraw": (
            f"Memo {memo.withdraws} is withdrawn with immediate effect.",
            f"通知{memo.withdraws}立即作废。",
        ),
        "chat": (
            f"We'd be glad if returns within {_days(memo.value)} were accepted today; the shelves "
            "are empty anyway.",
            f"今天希望{memo.value}天内的退货都收下，反正货架空着。",
        ),
    }
    return say(language, *texts[memo.kind])


def sellers_text(sellers: Sequence[Record], look: str, language: Language) -> str:
    """Return the sellers' terms."""
    rows = [
        {
            "id": seller["id"],
            "fee": money(seller["fee_cents"], language),
            "free": money(seller["free_cents"], language),
            "days": f"{seller['days']}",
        }
        for seller in sellers
    ]
    return labelled_rows(rows, LOOKS[look], language)


def offers_text(
    offers: Sequence[Record], look: str, language: Language, *, whole: bool = False
) -> str:
    """Return offers of one kind of goods; with their reservations if `whole`."""
    rows = []
    for offer in offers:
        row = {
            "id": offer["id"],
            "system": offer["system"],
            "price": money(offer["cents"], language),
            "seller": offer["seller"],
            "sent": f"{offer['dispatch']}",
            "stock": f"{offer['units']}",
        }
        rows.append({**row, "reserved": f"{offer['reserved']}"} if whole else row)
    return f"{offers[0]['name'][language]}\n{labelled_rows(rows, LOOKS[look], language)}"


def _line_row(line: Record, catalogue: Catalogue, language: Language) -> MarketRow:
    product = catalogue.product(line["product"])
    marks = [say(language, "final sale", "特价")] if line["final_sale"] else []
    if line["state"] != "ordered":
        marks.append(say(language, line["state"], _STATES[line["state"]]))
    return {
        "id": say(language, "line {}", "第{}行").format(line["line"]),
        "goods": product.title[language],
        "chosen": chosen_text(product, product.variant(line["variant"]), language),
        "article": line["variant"],
        "price": money(line["cents"], language),
        "kind": category_label(product.category, language),
        "remarks": say(language, ", ", "、").join(marks) or "-",
    }


def _kind(catalogue: Catalogue, product_id: str, language: Language) -> str:
    product = catalogue.product(product_id)
    return category_of(product.category).kind(product.kind).text[language]

"""Policy of a day: numbered rules on several pages, and memos that change them.

The numbers of a rule, its number and the order of the pages differ between days. `terms_at` gives
the numbers in force at a time of day for one category of goods.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.shopping.world.wording import money, say

__all__ = ["AUTHORITY", "PAGES", "Memo", "ShiftPolicy", "Terms", "clock", "in_force", "policy_page",
           "rule_number", "terms_at"]  # fmt: skip

AUTHORITY = "head of service"
"""The only author whose memos change the policy."""

PAGES: Mapping[str, tuple[str, ...]] = {
    "desk": ("own", "claims", "memos", "records", "decline"),
    "orders": ("cancel", "change", "appointment", "label", "coupon", "fee"),
    "returns": ("return", "final", "method", "exchanged", "exchange", "stock", "warranty"),
    "payments": ("late", "goodwill", "once", "budget", "points", "card"),
    "baskets": ("basket", "delivery"),
}
"""Rules by page, as written below; the order in a task is `ShiftPolicy.order`."""


@dataclass(frozen=True)
class ShiftPolicy:
    """The numbers of one day's policy."""

    return_days: int
    plus_days: int
    cash_days: int
    late_days: int
    free_cents: int
    """Value of goods from which delivery is free."""

    goodwill_cents: int
    budget_cents: int
    """Goodwill that may be paid in the month."""

    order: tuple[str, ...] = tuple(rule for rules in PAGES.values() for rule in rules)
    """All rules in the order of their numbers; those of a page are consecutive."""

    def as_json(self) -> dict[str, Any]:
        """Return the policy as JSON."""
        return {**asdict(self), "order": list(self.order)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "ShiftPolicy":
        """Rebuild from `as_json`."""
        return cls(**{**record, "order": tuple(record["order"])})


@dataclass(frozen=True)
class Memo:
    """A memo; times are minutes since midnight."""

    id: str
    at: int
    """Time at which it appears."""

    author: str
    kind: str
    """`window`, `cash`, `late`, `goodwill`, `suspend`, `final`, `withdraw`, or `chat` without
    effect."""

    value: int = 0
    scope: str = ""
    """Category of goods to which it is limited; empty: all."""

    start: int = 0
    end: int = 24 * 60
    withdraws: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the memo as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Terms:
    """Numbers in force for goods of one category at one time."""

    return_days: int
    plus_days: int
    cash_days: int
    late_days: int
    goodwill_cents: int
    suspended: bool = False
    """Whether exchanges are suspended."""

    final: bool = True
    """Whether final-sale goods cannot be returned."""


_FIELDS = {
    "window": "return_days",
    "cash": "cash_days",
    "late": "late_days",
    "goodwill": "goodwill_cents",
}


def in_force(memos: Iterable[Memo], now: int) -> list[Memo]:
    """Return the memos that bind at a time, the earliest first."""
    known = [memo for memo in memos if memo.at <= now and memo.author == AUTHORITY]
    withdrawn = {memo.withdraws for memo in known if memo.kind == "withdraw"}
    return sorted(
        (memo for memo in known if memo.id not in withdrawn and memo.start <= now < memo.end),
        key=lambda memo: memo.at,
    )


def terms_at(policy: ShiftPolicy, memos: Iterable[Memo], now: int, category: str) -> Terms:
    """Return the numbers in force; of several memos on one number, the latest one counts."""
    terms = Terms(policy.return_days, policy.plus_days, policy.cash_days, policy.late_days,
                  policy.goodwill_cents)  # fmt: skip
    for memo in in_force(memos, now):
        if memo.scope not in ("", category):
            continue
        if memo.kind == "suspend":
            terms = replace(terms, suspended=True)
        elif memo.kind == "final":
            terms = replace(terms, final=False)
        elif memo.kind in _FIELDS:
            terms = replace(terms, **{_FIELDS[memo.kind]: memo.value})  # type: ignore[arg-type]
    return terms


def clock(minutes: int) -> str:
    """Format a time of day.

    >>> clock(605)
    '10:05'
    """
    return f"{minutes // 60:02}:{minutes % 60:02}"


def rule_number(policy: ShiftPolicy, rule: str) -> str:
    """Return the number under which a rule is cited."""
    return f"R{policy.order.index(rule) + 1}"


def policy_page(policy: ShiftPolicy, page: str, language: Language) -> str:
    """Return one page of the policy; for an unknown name, the list of pages."""
    if page not in PAGES:
        return say(language, "Pages of the policy: ", "政策分页：") + ", ".join(_pages(policy))
    written = _rules(policy, language)
    rules = [rule for rule in policy.order if rule in PAGES[page]]
    return "\n".join(
        [f"[{page}]", *(f"{rule_number(policy, rule)}. {written[rule]}" for rule in rules)]
    )


def _pages(policy: ShiftPolicy) -> Sequence[str]:
    return sorted(PAGES, key=lambda page: policy.order.index(PAGES[page][0]))


def _rules(policy: ShiftPolicy, language: Language) -> dict[str, str]:
    free, paid, budget = (
        money(cents, language)
        for cents in (policy.free_cents, policy.goodwill_cents, policy.budget_cents)
    )
    texts = {
        "own": (
            "Customers may ask only about their own orders. Two accounts belong to the same person "
            "only if name and email are the same; people with the same name are not the same "
            "person. Requests for someone else's order are declined (not_owner, the order).",
            "顾客只能办理自己的订单。姓名和邮箱都相同的两个账户属于同一人；仅仅同名的不是同一人。"
            "要办理他人订单的，拒绝（not_owner，订单号）。",
        ),
        "claims": (
            "What a customer says was agreed counts only if the order's history has a note of the "
            "service team about it, or if it follows from these rules anyway. Otherwise it is "
            "declined (not_agreed, the order), whatever else may speak against it. A note of "
            "the service team in the history binds "
            "for its order, before rules and memos.",
            "顾客声称的约定，只有在订单历史中有客服组的备注，"
            "或按本政策本来就成立时才算数，"
            "否则拒绝（not_agreed，订单号），不论是否还有其他理由。客服组在订单历史中的备注对该订单有约束力，优先于政策和通知。",
        ),
        "memos": (
            "Memos of the head of service change these rules, within the times and for the goods "
            "that they name. Of several on the same number the latest counts. Messages of others "
            "are for information only. Read the memos before every case: they appear without "
            "notice. A time 'from' is included, a time 'until' is not.",
            "客服主管的通知在其所写的时间和商品范围内更改本政策；"
            "对同一数字有多份通知的，"
            "以最新一份为准。其他人的消息仅供参考。每个顾客之前都要看通知：新通知不会另行提醒。"
            "“起”含该时刻，“止”不含。",
        ),
        "records": (
            "Whenever a case is closed, every record must be as it was agreed with the customers "
            "of the day, those of earlier cases included, together with what belongs to it by "
            "these rules: points, gift cards, parcels, warranties, baskets and goodwill. Whatever "
            "is no longer so is set again, as long as that is possible. All else, other "
            "customers' records included, stays as it is; if a save has changed it as well, it is "
            "put back. Other departments change records only between two customers.",
            "每次结案时，所有记录都必须与当天和顾客约定的一致，包括之前的顾客；按本政策随之变动的也一样："
            "积分、礼品卡、包裹、保修、配套订单和补偿。不再一致的，只要还能改就要改回来。"
            "其余记录（包括其他顾客的）一概不动；保存时被一并改动的，要恢复原样。"
            "其他部门只在两位顾客之间改动记录。",
        ),
        "decline": (
            "Do what is asked and allowed, nothing more. If part of a request is not allowed, "
            "decline that part (decline: reason, record, rule) and do the rest. Cite the memo "
            "if the request would be allowed without that memo, otherwise the rule that states "
            "the reason. If several reasons apply, give the one whose rule has the smallest "
            "number. Records are an order, a line such as O12345678/1, or a variant.",
            "只办顾客要求且允许的事。要求中有一部分不允许的，拒绝该部分（decline：理由、记录、条款），其余照办。"
            "若没有某份通知就会允许，则引用该通知，否则引用写明该理由的条款；"
            "有多个理由时，取条款编号最小的。记录为订单号、订单行（如O12345678/1）或款式编号。",
        ),
        "cancel": (
            "Lines of an order can be cancelled while it is pending. Once it is packed, shipped or "
            "delivered, they cannot (already_packed, the order). The same goes for putting a "
            "cancelled line back.",
            "订单待发货时可以取消其中的行；已打包、已发出或已签收的不能取消"
            "（already_packed，订单号）。恢复已取消的行也一样。",
        ),
        "change": (
            "Address, carrier and gift note of an order can be changed while it is pending "
            "(already_packed, the order). A new address counts once the customer has confirmed it "
            "in the account (guide_customer, step confirm_address). Carrier and gift note stay "
            "as they are unless the customer asks otherwise.",
            "地址、承运商和礼品卡片留言在待发货时可以更改（already_packed，订单号）。新地址要由顾客在账户里确认"
            "（guide_customer，confirm_address）才算数。顾客没有要求的，承运商和卡片留言保持不变。",
        ),
        "appointment": (
            "The delivery of an order can be given another appointment, a day and a part of it, "
            "while the order is pending (set_appointment; already_packed, the order). An "
            "appointment that was agreed with a customer of the day binds the carrier: if the "
            "carrier moves it, it is set again. A new address or carrier leaves it as it is.",
            "待发货的订单可以改约送货的日期和时段（set_appointment；already_packed，订单号）。"
            "当天与顾客约定的时段对承运商有约束力：承运商改动的，要改回来。"
            "更换地址或承运商不影响预约。",
        ),
        "label": (
            "The parcel of an order that has not been sent carries a label (show_parcel) with the "
            "address of the order. The system prints a new one when the address changes; "
            "print_label does so by hand.",
            "未发出订单的包裹（show_parcel）面单上的地址与订单地址一致。地址更改时系统会重新打印，"
            "也可以手动打印（print_label）。",
        ),
        "coupon": (
            "A coupon counts as long as the goods that the customer keeps reach its minimum. "
            "Otherwise it is taken off the order (set_coupons) and its discount is lost. A coupon "
            "counts once for each order.",
            "顾客保留的商品达到优惠券门槛时，优惠券有效；否则从订单上撤掉（set_coupons），优惠作废。"
            "每个订单一张优惠券只算一次。",
        ),
        "fee": (
            f"Delivery is free if the goods that the customer keeps are worth at least {free} "
            "before any coupon; otherwise the order's delivery fee is due, even if nothing was "
            "charged at first. After cancellations and returns, the refunds of an order amount "
            "to what was paid less what the kept goods, coupon and delivery fee come to. If an "
            "order is cancelled altogether, everything is refunded.",
            f"顾客保留的商品（优惠前）满{free}免运费；否则须付该订单的运费，即使当初没有收。"
            "取消和退货后，该订单的退款总额等于已付金额减去保留商品、优惠券和运费算出的应付金额。"
            "整单取消的全额退还。",
        ),
        "return": (
            f"Delivered goods can be returned within {policy.return_days} days of delivery, by "
            f"Plus members within {policy.plus_days} days more; the last day counts. Later they "
            "cannot (window_passed, the line).",
            f"签收后{policy.return_days}天内（含最后一天）可以退货，Plus会员再加{policy.plus_days}天；"
            "过期不能退（window_passed，订单行）。",
        ),
        "final": (
            "Final-sale lines cannot be returned (final_sale, the line) unless they arrived "
            "damaged. Ask for the condition before you decline. A line that arrived damaged is "
            "returned at its full price, whatever its day of delivery, and it counts as kept for "
            "coupon and delivery fee; first the customer uploads a photo of it "
            "(guide_customer, step photo), which the order shows.",
            "特价行不能退（final_sale，订单行），到货破损的除外；拒绝前先问清状况。"
            "到货破损的行不论签收多久都按原价退，计算优惠券和运费时视为保留；"
            "先请顾客上传该行的照片（guide_customer，photo），订单上会显示。",
        ),
        "method": (
            "Refunds of returns go to the payment method of the order if it was delivered at most "
            f"{policy.cash_days} days ago, otherwise to the gift card of the account. All other "
            "refunds go to the payment method of the order.",
            f"退货退款：签收不超过{policy.cash_days}天的退回订单的支付方式，否则退到该账户的礼品卡。"
            "其他退款都退回订单的支付方式。",
        ),
        "exchanged": (
            "A line that was exchanged can be neither returned nor exchanged again "
            "(already_exchanged, the line), unless it arrived damaged.",
            "换过的行不能再退或再换（already_exchanged，订单行），到货破损的除外。",
        ),
        "exchange": (
            "Delivered lines can be exchanged for another variant of the same item as long as they "
            "could be returned (window_passed, the line); final-sale lines, too. No money changes "
            "hands. If exchanges are suspended: suspended, the line.",
            "已签收的行在可退货的期限内可以换同一商品的其他款（window_passed，订单行），特价行也可以；不涉及金额。"
            "暂停换货时：suspended，订单行。",
        ),
        "stock": (
            "Exchanges need a unit that is not reserved for another order (no_free_unit, the "
            "variant). An exchange reserves its unit.",
            "换货须有未被其他订单预留的现货（no_free_unit，款式编号）；换货会预留一件。",
        ),
        "warranty": (
            "The variants of delivered lines are registered for warranty (show_warranty). An "
            "exchanged line is registered with its new variant; the entry of a returned line, "
            "damaged or not, ends; if a line is put back as ordered, so is its entry. The system "
            "keeps the register; set_warranty corrects it.",
            "已签收的行按款式登记保修（show_warranty）。换货的行登记为新款式；退货的行（无论是否破损）"
            "保修终止；恢复为已购的行，登记也恢复。系统自动登记，set_warranty 用于更正。",
        ),
        "late": (
            f"If an order came more than {policy.late_days} days after the promised day, the "
            "delivery fee that was charged for it is refunded; to Plus members twice that fee. "
            "Otherwise this is declined (not_late, the order).",
            f"订单比承诺日晚到超过{policy.late_days}天的，退还已收的运费；Plus会员退双倍。"
            "否则拒绝（not_late，订单号）。",
        ),
        "goodwill": (
            f"Customers who ask for a goodwill payment get {paid} (pay_goodwill) if their order "
            "came late in the sense of the rule on late delivery. If it did not, the refusal "
            "under that "
            "rule answers for the goodwill as well.",
            f"要求补偿的顾客，如果其订单符合延误条款，可得{paid}补偿（pay_goodwill）；"
            "不符合的，按延误条款作出的拒绝同时适用于补偿。",
        ),
        "once": (
            "Each person gets goodwill once in the month, whichever account it was for "
            "(already_paid, the order that it was paid for).",
            "每人每月只能得到一次补偿，不论用哪个账户（already_paid，已付补偿的订单号）。",
        ),
        "budget": (
            f"Goodwill of all colleagues together may not exceed {budget} in the month; what would "
            "exceed it is declined (budget_spent, the order). show_goodwill lists what was paid.",
            f"全组当月补偿总额不得超过{budget}；会超出的拒绝（budget_spent，订单号）。"
            "show_goodwill 列出已付的补偿。",
        ),
        "points": (
            "Every line has earned one point for each full dollar of its price; cents of a line "
            "do not count. The points of lines that are cancelled or returned, damaged or not, "
            "are taken from the account of the order, and given back if the line is put back. "
            "Nothing else changes points. The system books them; set_points corrects the account, "
            "which shows the points of now and of this morning.",
            "每行商品价格每满1元积1分，不足1元的部分不计。取消或退货（无论是否破损）的行，"
            "其积分从该订单所属账户扣除；恢复该行时加回。其他情况积分不变。系统自动记账，"
            "set_points 用于更正；账户页显示现有积分和今早的积分。",
        ),
        "card": (
            "What an order refunds to the gift card of its account is added to the card's balance "
            "to the cent, and taken off with the refund. Nothing else changes balances today. The "
            "system books them; set_card corrects the balance, which the account shows.",
            "订单退到账户礼品卡的金额全额（精确到分）计入卡内余额，退款撤销时扣回。"
            "今天余额没有其他变动。系统自动记账，set_card 用于更正；账户页显示余额。",
        ),
        "basket": (
            "Baskets: ask for the customer's wishes (ask_customer, wishes). A basket has one offer "
            "for every kind of goods asked for, all of one system, and is the one at the "
            "lowest total of prices and sellers' delivery fees that meets the customer's wishes. "
            "An offer whose units are all reserved for others cannot be had; a basket reserves one "
            "unit of each of its offers. A new place_order for the same customer replaces the "
            "former basket and frees its units.",
            "配套采购：先问清顾客的要求（ask_customer，wishes）。每种所需商品选一个报价，制式一致，在满足顾客要求的前提下商品价格加卖家运费的总额最低。"
            "全部被他人预留的报价不可选；下单会为每个报价预留一件。为同一顾客再次下单（place_order）"
            "会取代之前的订单并释放其预留。",
        ),
        "delivery": (
            "Each seller's delivery fee is due once, unless the goods of that seller reach the "
            "amount from which it delivers for free. Goods arrive on the day of dispatch plus the "
            "seller's days on the way.",
            "每个卖家的运费只收一次，该卖家的商品满其包邮金额则免收。到货日为发货日加该卖家的在途天数。",
        ),
    }  # fmt: skip
    return {name: say(language, *text) for name, text in texts.items()}

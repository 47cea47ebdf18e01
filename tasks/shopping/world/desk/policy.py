"""The written policy of the service desk, and the ruling that follows from it.

The policy's numbers and the order of its paragraphs differ between tasks, so it has to be read; a
refusal names the paragraph. `ruling` decides a request from the records alone. Templates build
cases for an intended outcome, and a case is valid only if the ruling agrees.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.shopping.world.tables import Record
from hexathlon.tasks.shopping.world.wording import say

__all__ = ["PARAGRAPHS", "DeskPolicy", "paragraph_of", "policy_text", "ruling"]

PARAGRAPHS = ("records", "cancel", "change", "return", "refund", "exchange", "late", "only")
"""The subjects of the paragraphs, in the order in which they are written below."""


@dataclass(frozen=True)
class DeskPolicy:
    """The parameters of one desk's policy."""

    return_days: int
    """Days after delivery within which goods may be returned."""

    plus_days: int
    """Additional days for Plus members."""

    cash_days: int
    """Days after delivery up to which the refund goes to the original payment method."""

    late_days: int
    """Days of delay beyond which the delivery fee is refunded."""

    today: int = 0
    """Day in the shop's calendar; earlier days are negative."""

    order: tuple[int, ...] = tuple(range(len(PARAGRAPHS)))
    """The order of the paragraphs."""

    def as_json(self) -> dict[str, Any]:
        """Return the parameters as JSON."""
        return {**asdict(self), "order": list(self.order)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "DeskPolicy":
        """Rebuild from `as_json`."""
        return cls(**{**record, "order": tuple(record["order"])})


def policy_text(policy: DeskPolicy, language: Language) -> str:
    """Render the policy's text."""
    written = _paragraphs(policy)
    heading = say(
        language,
        f"SERVICE POLICY (today is day {policy.today}; days before today are negative). In "
        "brackets after what is declined: the reason and the record to name.",
        f"客服政策（今天是第{policy.today}天；今天之前的日子为负数）。括号内为拒绝时要写明的理由和记录。",
    )
    lines = [
        f"{number}. {say(language, *written[PARAGRAPHS[place]])}"
        for number, place in enumerate(policy.order, 1)
    ]
    return "\n".join([heading, *lines])


def paragraph_of(policy: DeskPolicy, action: str, reason: str) -> int:
    """Return the number of the paragraph that forbids an action for a reason."""
    about = {
        "cancel_order": "cancel",
        "change_address": "change",
        "change_item": "change",
        "return_items": "return",
        "exchange_item": "exchange",
        "refund_delivery": "late",
    }[action]
    place = PARAGRAPHS.index("records" if reason == "not_owner" else about)
    return policy.order.index(place) + 1


def _paragraphs(policy: DeskPolicy) -> dict[str, tuple[str, str]]:
    """Return the paragraphs in both languages, by subject."""
    return {
        "records": (
            "Find the customer's record first. Customers may ask only about their own orders; "
            "anything else is declined (not_owner, the order).",
            "先查到顾客档案。顾客只能处理自己的订单，否则拒绝（not_owner，订单号）。",
        ),
        "cancel": (
            "Cancel: only orders that are pending, with the reason not_needed or mistake. What has "
            "been sent cannot be cancelled (already_shipped, the order).",
            "取消：仅限待发货订单，理由为not_needed（不需要了）或mistake（下错单）。"
            "已发出的不能取消（already_shipped，订单号）。",
        ),
        "change": (
            "Change of address or of a variant: only pending orders (already_shipped, the order). "
            "A variant may be changed only to another one of the same item that is in stock "
            "(out_of_stock, the variant).",
            "修改地址或款式：仅限待发货订单（already_shipped，订单号）。"
            "款式只能换成同一商品有货的其他款（out_of_stock，款式编号）。",
        ),
        "return": (
            f"Return: delivered goods, within {policy.return_days} days of delivery; Plus members "
            f"have {policy.plus_days} days more. After that it is declined (window_passed, the "
            "line, such as O12345678/1). Final-sale lines cannot be returned (final_sale, the "
            "line), unless they arrived damaged: then they can be returned like any others.",
            f"退货：签收后{policy.return_days}天内；Plus会员再加{policy.plus_days}天。"
            "过期拒绝（window_passed，订单行，如O12345678/1）。特价商品不能退"
            "（final_sale，订单行），但到货破损的可以照常退。",
        ),
        "refund": (
            "Refunds of returns go to the payment method of the order up to "
            f"{policy.cash_days} days after delivery, later to the customer's gift card.",
            f"退货退款：签收不超过{policy.cash_days}天退回订单的支付方式，之后退到顾客的礼品卡。",
        ),
        "exchange": (
            "Exchange: within the same time as a return, but only for another variant of the same "
            "item that is in stock (out_of_stock, the variant). Final-sale lines may be exchanged.",
            "换货：期限同退货，只能换成同一商品有货的其他款（out_of_stock，款式编号）。"
            "特价商品可以换货。",
        ),
        "late": (
            f"Late delivery: if an order came more than {policy.late_days} days after the promised "
            "day, its delivery fee is refunded to the payment method of the order; for Plus "
            "members twice the fee. If it did not, this is declined (not_late, the order).",
            f"延误：订单比承诺日晚到超过{policy.late_days}天，运费退回订单的支付方式；"
            "Plus会员退双倍运费。未达到则拒绝（not_late，订单号）。",
        ),
        "only": (
            "Do what was asked and nothing more; then finish the case. What the policy does not "
            "allow is declined with the reason, the record and the number of the paragraph that "
            "says so, without changing anything.",
            "只做顾客要求的事，然后结案。政策不允许的，写明理由、记录和相应条款的编号予以拒绝，"
            "不做任何改动。",
        ),
    }


def ruling(
    policy: DeskPolicy,
    customer: Record,
    order: Record,
    action: str,
    arguments: Mapping[str, Any],
    stock: Mapping[str, int],
    damaged: bool = False,
) -> tuple[str, str] | None:
    """Return why a request is declined, as (reason, record), or None if it is allowed.

    Args:
        policy: The desk's parameters.
        customer: The customer who asks.
        order: The order in question.
        action: Name of the desk's tool.
        arguments: The tool's arguments; only lines and variants are read.
        stock: Stock of the requested variants.
        damaged: Whether the goods arrived damaged.
    """  # fmt: skip
    if order["customer"] != customer["id"]:
        return "not_owner", order["id"]
    if action in ("cancel_order", "change_address", "change_item") and order["status"] != "pending":
        return "already_shipped", order["id"]
    if action in ("return_items", "exchange_item"):
        since = policy.today - order["delivered"]
        extra = policy.plus_days if customer["tier"] == "plus" else 0
        if since > policy.return_days + extra:
            first = arguments["line"] if "line" in arguments else arguments["lines"][0]
            return "window_passed", f"{order['id']}/{first}"
    if action == "return_items" and not damaged:
        for line in order["lines"]:
            if line["line"] in arguments["lines"] and line["final_sale"]:
                return "final_sale", f"{order['id']}/{line['line']}"
    if action in ("exchange_item", "change_item") and not stock[arguments["variant"]]:
        return "out_of_stock", arguments["variant"]
    if action == "refund_delivery":
        if order["delivered"] - order["promised"] <= policy.late_days:
            return "not_late", order["id"]
    return None

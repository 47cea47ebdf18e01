"""The written policy of the service desk, and the ruling that follows from it.

The numbers in the policy differ from task to task, so it has to be read. `ruling` decides a
request on the records alone; templates build cases towards an outcome, and a case stands only if
the ruling agrees.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hexathlon.tasks.shopping.catalogue.text import Language
from hexathlon.tasks.shopping.tables import Record
from hexathlon.tasks.shopping.wording import say

__all__ = ["Policy", "policy_text", "ruling"]


@dataclass(frozen=True)
class Policy:
    """The numbers of one desk's policy."""

    return_days: int
    """Days after delivery in which goods may go back."""

    plus_days: int
    """Further days for Plus members."""

    cash_days: int
    """Days after delivery up to which the refund goes to the original payment method."""

    late_days: int
    """Days of delay above which the delivery fee is refunded."""

    today: int = 0
    """Day of the shop's calendar; earlier days are negative."""

    def as_json(self) -> dict[str, int]:
        """Return the numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Policy":
        """Rebuild from `as_json`."""
        return cls(**record)


def policy_text(policy: Policy, language: Language) -> str:
    """Write the policy out."""
    return say(
        language,
        f"""SERVICE POLICY (today is day {policy.today}; days before today are negative)
1. Find the customer's record first. A customer may ask only about their own orders; anything else
   is declined (not_owner, the order).
2. Cancel: only orders that are pending. Reasons: not_needed, mistake. What has left the house
   cannot be cancelled (already_shipped, the order).
3. Change of address or of a variant: only pending orders (already_shipped, the order). A variant
   may be changed only to another one of the same item that is in stock (out_of_stock, the
   variant).
4. Return: delivered goods, within {policy.return_days} days of delivery; Plus members have
   {policy.plus_days} days more. After that it is declined (window_passed, the order). Final-sale
   lines cannot be returned (final_sale, the order), unless they arrived damaged: then they can be
   returned like any others.
5. Refunds of returns go to the payment method of the order when it is at most {policy.cash_days}
   days since delivery, later to the customer's gift card.
6. Exchange: as for returns, but to another variant of the same item that is in stock
   (out_of_stock, the variant). Final-sale lines may be exchanged.
7. Late delivery: if an order came more than {policy.late_days} days after the promised day, its
   delivery fee is refunded to the payment method of the order; for Plus members twice the fee. If
   it did not, this is declined (not_late, the order).
8. Do what was asked and nothing more; then finish the case. What the policy does not allow is
   declined with reason and record, without changing anything.""",
        f"""客服政策（今天是第{policy.today}天；今天之前的日子为负数）
1. 先查到顾客档案。顾客只能处理自己的订单，否则拒绝（not_owner，订单号）。
2. 取消：仅限待发货（pending）订单。理由：not_needed（不需要了）、mistake（下错单）。
   已发出的不能取消（already_shipped，订单号）。
3. 修改地址或款式：仅限待发货订单（already_shipped，订单号）。
   款式只能换成同一商品有货的其他款（out_of_stock，款式编号）。
4. 退货：签收后{policy.return_days}天内；Plus会员再加{policy.plus_days}天。
   过期拒绝（window_passed，订单号）。特价（final sale）商品不能退（final_sale，订单号），
   但到货破损的可以照常退。
5. 退货退款：签收不超过{policy.cash_days}天退回订单的支付方式，之后退到顾客的礼品卡。
6. 换货：期限同退货，只能换成同一商品有货的其他款（out_of_stock，款式编号）。
   特价商品可以换货。
7. 延误：订单比承诺日晚到超过{policy.late_days}天，运费退回订单的支付方式；
   Plus会员退双倍运费。未达到则拒绝（not_late，订单号）。
8. 只做顾客要求的事，然后结案。政策不允许的，说明理由和记录编号予以拒绝，不做任何改动。""",
    )


def ruling(
    policy: Policy,
    customer: Record,
    order: Record,
    action: str,
    arguments: Mapping[str, Any],
    stock: Mapping[str, int],
    damaged: bool = False,
) -> tuple[str, str] | None:
    """Return why a request is declined, as (reason, record), or None where it is allowed.

    Args:
        policy: The desk's numbers.
        customer: Who asks.
        order: What it is about.
        action: Name of the desk's tool.
        arguments: Its arguments; only variants are looked at.
        stock: Stock of the variants that are asked for.
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
            return "window_passed", order["id"]
    if action == "return_items" and not damaged:
        lines = [line for line in order["lines"] if line["line"] in arguments["lines"]]
        if any(line["final_sale"] for line in lines):
            return "final_sale", order["id"]
    if action in ("exchange_item", "change_item") and not stock[arguments["variant"]]:
        return "out_of_stock", arguments["variant"]
    if action == "refund_delivery":
        if order["delivered"] - order["promised"] <= policy.late_days:
            return "not_late", order["id"]
    return None

"""A second implementation of cart pricing, independent of the shop's own."""

from collections.abc import Sequence

from hexathlon.tasks.catalogue import CartLine, Coupon, Rules

__all__ = ["second_total"]


def second_total(
    cart: Sequence[CartLine], coupons: Sequence[Coupon], rules: Rules, region: str, speed: str
) -> int | None:
    """Return the total of a cart by an independent method; None with bundles, which it lacks.

    It checks the validity of each coupon and keeps the remaining amounts in its own table.
    """
    if any(line.bundles and rules.bundles for line in cart):
        return None
    amounts = {i: line.unit_cents * line.quantity for i, line in enumerate(cart)}
    used: list[Coupon] = []
    for coupon in coupons:
        covered = {i for i, line in enumerate(cart) if coupon.covers(line)}
        worth = sum(amounts[i] for i in covered)
        valid = (
            covered
            and worth >= coupon.minimum_cents
            and (coupon.last_day is None or coupon.last_day >= rules.today)
            and not (coupon.first_order_only and not rules.first_order)
            and len(used) < rules.max_coupons
            and (not used or (coupon.stackable and all(other.stackable for other in used)))
            and coupon.code not in {other.code for other in used}
        )
        if not valid:
            continue
        used.append(coupon)
        amounts = _after(coupon, amounts, covered)
    goods = sum(amounts.values())
    rate = rules.shipping[region]  # type: ignore[index]
    free = rate.free_from_cents is not None and goods >= rate.free_from_cents
    delivery = rate.express_cents if speed == "express" else 0 if free else rate.standard_cents
    return goods + (0 if any(coupon.kind == "shipping" for coupon in used) else delivery)


def _after(coupon: Coupon, amounts: dict[int, int], covered: set[int]) -> dict[int, int]:
    """Return the remainder of each line after a coupon, applied line by line up to its cap."""
    if coupon.kind == "shipping":
        return amounts
    if coupon.kind == "amount":
        wished = {i: amounts[i] for i in covered}
        cap = coupon.value
    else:
        wished = {i: int(amounts[i] * coupon.value / 100 + 1e-9) for i in covered}
        cap = sum(wished.values()) if coupon.maximum_cents is None else coupon.maximum_cents
    left, spent = dict(amounts), 0
    for i in sorted(covered):
        off = min(wished[i], cap - spent)
        left[i] -= off
        spent += off
    return left

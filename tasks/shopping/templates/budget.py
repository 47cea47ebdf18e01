"""Carts, budgets and rules: several lines, coupons with exclusions, delivery, stock, bundles.

The expected choice is found by exhaustive search with the shop's own pricing, and again with a
second implementation, `second_pricing`. An instance is kept only if both agree and the best choice
is unique.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from hexathlon.tasks.catalogue import (
    Constraint,
    PriceBreakdown,
    Product,
    Variant,
    price_cart,
)
from hexathlon.tasks.shopping.scene import ShoppingScene, WantedVariant, answering
from hexathlon.tasks.shopping.templates.draft import (
    Near,
    OrderLine,
    ShoppingDraft,
    near_of,
    sourced,
)
from hexathlon.tasks.shopping.templates.second_pricing import second_total
from hexathlon.tasks.shopping.templates.words import (
    details_text,
    further_text,
    goods_text,
    last_words,
    measure_word,
    request_text,
)
from hexathlon.tasks.shopping.world.facts import category_of
from hexathlon.tasks.shopping.world.settings import StoreSettings, cart_line, open_settings
from hexathlon.tasks.shopping.world.wording import money

__all__ = ["BUDGETS"]

_MOST_PIECES = 12
_MOST_ALIKE = 20


def _settings(scene: ShoppingScene, **params: object) -> StoreSettings:
    catalogue = {"seed": scene.catalogue.seed, "size": scene.catalogue.size}
    return open_settings({"catalogue": catalogue, "language": scene.language, **params})


def _priced(
    settings: StoreSettings,
    lines: Sequence[OrderLine],
    coupons: Sequence[str] = (),
    address: str = "home",
    speed: str = "standard",
) -> PriceBreakdown | None:
    """Price a cart twice; None if the two disagree."""
    cart = [cart_line(line.product, line.variant, line.quantity) for line in lines]
    held = [settings.coupons[code] for code in coupons]
    price = price_cart(cart, held, settings.addresses[address], settings.rules, speed)  # type: ignore[arg-type]
    region = settings.addresses[address].region
    again = second_total(cart, held, settings.rules, region, speed)
    return price if again in (None, price.total_cents) else None


def _asked(scene: ShoppingScene, wish: WantedVariant, quantity: int = 1) -> str:
    goods = goods_text(scene, wish.product, ("brand", "series"))
    return request_text(scene, goods, details_text(scene, wish.product, wish.details), quantity)


def _also_asked(scene: ShoppingScene, wish: WantedVariant) -> str:
    goods = goods_text(scene, wish.product, ("brand", "series"))
    return further_text(scene, goods, details_text(scene, wish.product, wish.details))


def cart(scene: ShoppingScene) -> ShoppingDraft | None:
    """Two products in one order, one of them several times."""
    first, second = scene.wish(stock=4), scene.wish()
    if first is None or second is None or first.family // 2 == second.family // 2:
        return None
    pieces = 2 + int(scene.rng.integers(2))
    also = scene.say("In the same order, I'd also like ", "同一单里再加")
    lines = [
        OrderLine(first.product, first.variant, pieces),
        OrderLine(second.product, second.variant),
    ]
    if _priced(_settings(scene), lines) is None:
        return None
    return ShoppingDraft(
        instruction=f"{_asked(scene, first, pieces)} {also}{_also_asked(scene, second)} "
        f"{last_words(scene)}",
        lines=lines,
        near=[*near_of(first)[:3], *near_of(second, 1)[:3]],
        wanted=[sourced(first.constraints), sourced(second.constraints)],
    )


def coupon(scene: ShoppingScene) -> ShoppingDraft | None:
    """Use the combination of the customer's coupons that saves most."""
    pieces = 1 + int(scene.rng.integers(3))
    wish = scene.wish(stock=pieces)
    if wish is None:
        return None
    order = scene.rng.permutation(len(scene.catalogue.coupons)).tolist()
    codes = [scene.catalogue.coupons[i].code for i in order[:5]]
    settings = _settings(scene, coupons=codes)
    lines = [OrderLine(wish.product, wish.variant, pieces)]
    totals = dict(_totals(settings, lines, codes))
    if not totals:
        return None
    best = min(totals.values())
    winners = [used for used, total in totals.items() if total == best]
    if len({frozenset(used) for used in winners}) != 1 or not winners[0]:
        return None
    runner_up = [used for used, total in totals.items() if used and total > best]
    if not runner_up:
        return None
    ask = scene.say(
        "Please use my coupons so that I pay as little as possible.",
        "请用我手里的优惠券，让总价最低。",
    )
    return ShoppingDraft(
        instruction=f"{_asked(scene, wish, pieces)} {ask} {last_words(scene)}",
        lines=lines,
        near=near_of(wish)[:3],
        wanted=[sourced(wish.constraints)],
        coupons=winners[0],
        wrong_coupons={"another coupon": list(runner_up[0])},
        params={"coupons": codes},
    )


def _totals(
    settings: StoreSettings, lines: Sequence[OrderLine], codes: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield each sequence of coupons that are all valid, with its total."""
    for count in range(settings.rules.max_coupons + 1):
        for chosen in permutations(codes, count):
            price = _priced(settings, lines, chosen)
            if price is not None and not price.refused:
                yield chosen, price.total_cents


def delivery_choice(scene: ShoppingScene) -> ShoppingDraft | None:
    """Express if the total stays within a bound, otherwise standard; to another address."""
    wish = scene.wish()
    if wish is None:
        return None
    addresses = {"home": "city", "parents": scene.pick(("country", "island"))}
    settings = _settings(scene, addresses=addresses)
    lines = [OrderLine(wish.product, wish.variant)]
    express = _priced(settings, lines, (), "parents", "express")
    standard = _priced(settings, lines, (), "parents", "standard")
    if express is None or standard is None or express.total_cents == standard.total_cents:
        return None
    total = express.total_cents
    fits = scene.side == 0
    bound = total + 150 if fits else total - 150
    limit = money(bound // 10 * 10, scene.language)
    ask = scene.say(
        f"Send it to my parents' address, express if the total with delivery is {limit} or less, "
        "otherwise standard.",
        f"寄到父母的地址（parents）：含运费总价不超过{limit}就用加急（express），否则用标准（standard）。",
    )
    return ShoppingDraft(
        instruction=f"{_asked(scene, wish)} {ask} {last_words(scene)}",
        lines=lines,
        near=near_of(wish)[:3],
        wanted=[sourced(wish.constraints)],
        address="parents",
        speed="express" if fits else "standard",
        params={"addresses": addresses},
        twin=True,
    )


def as_many(scene: ShoppingScene) -> ShoppingDraft | None:
    """Buy as many as a budget allows, delivery included."""
    wish = scene.wish(stock=_MOST_PIECES + 1)
    if wish is None:
        return None
    settings = _settings(scene)
    totals = []
    for pieces in range(1, _MOST_PIECES + 2):
        price = _priced(settings, [OrderLine(wish.product, wish.variant, pieces)])
        if price is None:
            return None
        totals.append(price.total_cents)
    pieces = 2 + int(scene.rng.integers(6))
    bound = (totals[pieces - 1] + int(scene.rng.integers(50, 400))) // 10 * 10
    most = max(i + 1 for i, total in enumerate(totals) if total <= bound)
    if most != pieces:
        return None
    limit = money(bound, scene.language)
    goods = goods_text(scene, wish.product, ())
    counted = measure_word(goods)
    ask = scene.say(
        f"Please order as many as {limit} will buy, delivery included.",
        f"含运费总价不超过{limit}，能买几{counted}就买几{counted}。",
    )
    return ShoppingDraft(
        instruction=f"{_asked(scene, wish, 0)} {ask} {last_words(scene)}",
        lines=[OrderLine(wish.product, wish.variant, pieces)],
        near=near_of(wish)[:3],
        wanted=[sourced(wish.constraints)],
    )


def stock(scene: ShoppingScene) -> ShoppingDraft | None:
    """Only one variant is in stock in the quantity wanted; its colour or size does not matter."""
    wish = scene.wish()
    if wish is None:
        return None
    free = [option.name for option in category_of(wish.product.category).options]
    details = [c for c in wish.details if c.name not in free]
    loose = (*wish.head, *details)
    if not details or answering(scene.catalogue, wish.family, loose) == []:
        return None
    bought = [
        scene.catalogue.product(found.split("-")[0]).variant(found)
        for found in answering(scene.catalogue, wish.family, loose)
    ]
    if any(found.id.split("-")[0] != wish.product.id for found in bought) or len(bought) < 2:
        return None
    ranked = sorted(bought, key=lambda found: -found.stock)
    if ranked[0].stock <= ranked[1].stock or ranked[0].stock > 99:
        return None
    pieces = ranked[1].stock + 1
    if pieces > _MOST_ALIKE:
        return None
    goods = goods_text(scene, wish.product, ("brand", "series"))
    request = request_text(scene, goods, details_text(scene, wish.product, details), pieces)
    ask = scene.say(
        "We're buying for the whole staff, so they must all be the same variant; I don't mind "
        "which one, as long as enough are in stock.",
        "是单位统一采购，必须全部是同一款式；哪一款都行，只要库存够。",
    )
    near = [
        Near(name, 0, product, variant) for name, product, variant in _near(wish, details, pieces)
    ]
    return ShoppingDraft(
        instruction=f"{request} {ask} {last_words(scene)}",
        lines=[OrderLine(wish.product, ranked[0], pieces)],
        near=near,
        wanted=[sourced(loose)],
    )


def _near(
    wish: WantedVariant, details: Sequence[Constraint], pieces: int
) -> Iterator[tuple[str, Product, Variant]]:
    """Yield the near misses on these details that have enough stock."""
    for position, product, variant in wish.near:
        if wish.details[position] in details and variant.stock >= pieces:
            yield f"{wish.details[position].name} is off", product, variant


def bundle(scene: ShoppingScene) -> ShoppingDraft | None:
    """Buy both parts of a bundle; the second is the cheapest that completes the set."""
    deal = scene.pick(scene.catalogue.bundles)
    family, other = deal.families if scene.rng.integers(2) else deal.families[::-1]
    made = scene.wish_in(family)
    if made is None:
        return None
    params = {"bundles": [deal.id]}
    settings = _settings(scene, **params)
    first = OrderLine(made.product, made.variant)
    offers: list[tuple[int, OrderLine]] = []
    for product_id in scene.catalogue.family(other):
        product = scene.catalogue.product(product_id)
        for variant in product.variants:
            if variant.stock:
                offers.append((variant.price_cents, OrderLine(product, variant)))
    offers.sort(key=lambda entry: (entry[0], entry[1].variant.id))
    if len(offers) < 4 or offers[0][0] == offers[1][0]:
        return None
    second = offers[0][1]
    if _priced(settings, [first, second]) is None:
        return None
    goods = goods_text(scene, second.product, ("brand", "series"))
    ask = scene.say(
        f"Please add your cheapest {goods} in stock to the same order, so that I get the bundle "
        "discount.",
        f"同一单里再加一{measure_word(goods)}有货的最便宜的{goods}，凑成套装优惠。",
    )
    found = [Near("a dearer second part", 1, line.product, line.variant) for _, line in offers[1:3]]
    head = scene.catalogue.constraints_of(second.product.id, ("kind", "brand", "series"))
    dearest = Constraint("price", "price", "<=", second.variant.price_cents)
    return replace(
        ShoppingDraft(
            instruction=f"{_asked(scene, made)} {ask} {last_words(scene)}",
            lines=[first, second],
            near=[*near_of(made)[:3], *found],
            wanted=[sourced(made.constraints), sourced((*head, dearest))],
        ),
        params=params,
    )


BUDGETS = {
    "cart": cart,
    "coupon": coupon,
    "delivery_choice": delivery_choice,
    "as_many": as_many,
    "stock": stock,
    "bundle": bundle,
}

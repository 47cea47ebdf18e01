"""Pages of the store: results, items, tables, the cart, the rules. Text only.

Item pages and tables have looks; results, the cart and the rules have one.
"""

import re
from collections.abc import Mapping, Sequence

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue.money import (
    Address,
    Coupon,
    PriceBreakdown,
    Rules,
)
from hexathlon.tasks.catalogue.product import Product, Variant
from hexathlon.tasks.catalogue.search import SearchPage
from hexathlon.tasks.shopping.world.facts import category_of
from hexathlon.tasks.shopping.world.fitting import left_out
from hexathlon.tasks.shopping.world.looks import LOOKS, paired_rows
from hexathlon.tasks.shopping.world.wording import chosen_text, money, offered_text, say

__all__ = [
    "bundles_text",
    "cart_text",
    "comparison_text",
    "coupons_text",
    "item_text",
    "profile_text",
    "results_text",
    "reviews_text",
    "rules_text",
    "specification_text",
    "variant_text",
]

_REVIEWS_PER_PAGE = 5
_ARTICLE = re.compile("^an? ")
_FACETS = 6
"""Maximum number of facet values listed on a page."""


def results_text(found: SearchPage, language: Language, per_page: int) -> str:
    """Return a result page; the first one lists the available filters."""
    last = max(found.pages, 1)
    lines = [
        say(
            language,
            f"{found.total} items, page {found.page} of {last}",
            f"共{found.total}件，第{found.page}页，共{last}页",
        )
    ]
    first = (found.page - 1) * per_page + 1
    for number, hit in enumerate(found.hits, first):
        days = say(language, f"{hit.delivery_days} days", f"{hit.delivery_days}天达")
        lines.append(
            f"{number:2}. {hit.product_id}  {say(language, 'from', '起价')} "
            f"{money(hit.price_cents, language)}  {hit.rating:.1f}★ ({hit.rating_count})  {days}"
        )
        lines.append(f"    {hit.title}")
    if found.page == 1 and found.total > len(found.hits):
        for name, counts in found.facets.items():
            if name == "price":  # in cents, and easy to see from the hits
                continue
            values = ", ".join(
                f"{_value_label(found, name, value, language)} ({n})"
                for value, n in list(counts.items())[:_FACETS]
            )
            lines.append(f"{say(language, 'Filter', '筛选')} {name}: {values}")
    return "\n".join(lines)


def _value_label(found: SearchPage, facet: str, value: str, language: Language) -> str:
    """Return a facet's value; in Chinese, a slug is followed by its name."""
    if language == "en":
        return value
    if facet == "category":
        return f"{value}={category_of(value).text.zh}"
    common = category_of(next(iter(found.facets["category"])))
    item = common.by_name.get(facet)
    return value if item is None else f"{value}={item.values[item.code(value)].text.zh}"


def item_text(product: Product, language: Language, look: str = "stall") -> str:
    """Return the item page in a look."""
    shown = LOOKS[look]
    head = [f"{product.id}  {product.title[language]}"]
    rows = _features(product, language)
    if shown.layout == "lines":
        colon = say(language, ": ", "：")
        head += _about_lines(product, language)
        head += [f"- {label}{colon}{value}" for label, value in rows]
    else:
        rows = [*_about_rows(product, shown.wording, language), *rows]
        head.append(paired_rows(rows, shown, language))
    options = say(language, "Options:", "选项：")
    return "\n".join([*head, options, offered_text(product, language)])


def _about_lines(product: Product, language: Language) -> list[str]:
    """Return what a page says first, on three lines."""
    ships = say(language, f"{product.shipping.days} days", f"{product.shipping.days}天送达")
    back = product.returns.days
    returns = (
        say(language, f"returns within {back} days", f"{back}天内可退")
        if back
        else say(language, "final sale, no returns", "特价商品，不可退货")
    )
    return [
        f"{say(language, 'Category: ', '类目：')}{category_of(product.category).text[language]}",
        f"{say(language, 'From', '起价')} {money(product.price_cents, language)}, "
        f"{product.rating:.1f}★ ({product.rating_count})",
        f"{say(language, 'Seller: ', '卖家：')}{product.seller.name[language]}"
        f"{say(language, '; delivery: ', '；配送：')}{ships}{say(language, '; ', '；')}{returns}",
    ]


_ABOUT: Sequence[tuple[tuple[str, str], ...]] = (
    (("Category", "类目"), ("Seller", "卖家"), ("Delivery", "配送"), ("Returns", "退货"),
     ("From", "起价"), ("Rating", "评分")),
    (("Department", "分类"), ("Sold by", "店铺"), ("Arrives in", "送达"), ("Return policy", "退货"),
     ("Price from", "最低价"), ("Stars", "评分")),
    (("Section", "类目"), ("Shop", "商家"), ("Shipping", "物流"), ("Returns", "退换"),
     ("Costs from", "起售价"), ("Rated", "评分")),
)  # fmt: skip
"""Labels of what a page says first, by the wording of a look."""


def _about_rows(product: Product, wording: int, language: Language) -> list[tuple[str, str]]:
    """Return the same as rows."""
    days, back = product.shipping.days, product.returns.days
    values = (
        category_of(product.category).text[language],
        product.seller.name[language],
        say(language, f"{days} days", f"{days}天"),
        say(language, f"within {back} days", f"{back}天内可退")
        if back
        else say(language, "final sale, no returns", "特价商品，不可退货"),
        money(product.price_cents, language),
        f"{product.rating:.1f}★ ({product.rating_count})",
    )
    labels = (label[language == "zh"] for label in _ABOUT[wording])
    return list(zip(labels, values, strict=True))


def _features(product: Product, language: Language) -> list[tuple[str, str]]:
    """Return the features, without those that goods of this kind cannot have."""
    hidden = _hidden_labels(product, language)
    rows = (line.partition(say(language, ": ", "："))[::2] for line in product.features[language])
    return [(label, _beside(label, value)) for label, value in rows if label not in hidden]


def _table(product: Product, language: Language) -> list[tuple[str, str]]:
    """Return the specification, without what goods of this kind cannot have.

    Tea is made where it grows, so its other place of origin is left out.
    """
    hidden = _hidden_labels(product, language)
    rows = [
        (label, _beside(label, value))
        for label, value in product.specification[language]
        if label not in hidden
    ]
    if product.category != "tea":
        return rows
    grown = category_of("tea").by_name["origin"]
    place = grown.values[grown.code(product.attributes["origin"])].text[language]
    made = say(language, "Made in", "产地")
    return [row for row in rows if row[0] != made or row[1] == place]


def _beside(label: str, value: str) -> str:
    """Return a value as it stands beside its label, which it does not repeat.

    >>> _beside("Keycaps", "PBT keycaps"), _beside("pH", "pH 5.5"), _beside("Lid", "no lid")
    ('PBT', '5.5', 'no lid')
    >>> _beside("头枕", "固定头枕"), _beside("调光", "不可调光")
    ('固定', '不可调光')
    """
    if value.startswith(("no ", "无", "不", "可")) or re.search(", |、", value):
        return value
    short = value.removesuffix(f" {label.lower()}").removeprefix(f"{label} ")
    if not label.isascii():
        short = value.removesuffix(label)
    return _ARTICLE.sub("", short) if short != value else value


def _hidden_labels(product: Product, language: Language) -> set[str]:
    """Return labels of what is left out, the carton included: its size is not that of the goods."""
    names = category_of(product.category).by_name
    carton = say(language, "Carton|Units per carton", "外箱尺寸|装箱数").split("|")
    return {*carton, *(names[name].label[language] for name in left_out(product))}


def bundles_text(product: Product, rules: Rules, language: Language) -> str:
    """Return the offered bundles with an item, one line each, each preceded by a line break."""
    lines = []
    for part in product.bundles:
        bundle, _, number = part.partition("/")
        if bundle in rules.bundles:
            place = int(number) + 1
            lines.append(
                say(language, f"Part {place} of bundle {bundle}", f"套装 {bundle} 的第{place}部分")
            )
    return "".join(f"\n{line}" for line in lines)


def profile_text(facts: Sequence[str], addresses: Mapping[str, Address]) -> str:
    """Return the shop's data on the customer, and the delivery addresses."""
    lines = [f"- {fact}" for fact in facts]
    return "\n".join([*lines, *(f"{name}: {where.region}" for name, where in addresses.items())])


def specification_text(product: Product, language: Language, look: str = "stall") -> str:
    """Return the specification table in a look."""
    head = f"{product.id}  {say(language, 'Specification', '规格参数')}"
    return f"{head}\n{paired_rows(_table(product, language), LOOKS[look], language)}"


def reviews_text(product: Product, page: int, language: Language) -> str:
    """Return one page of reviews, newest first."""
    pages = max(1, -(-len(product.reviews) // _REVIEWS_PER_PAGE))
    start = (page - 1) * _REVIEWS_PER_PAGE
    heading = say(language, f"Reviews, page {page}/{pages}", f"评价，第{page}页，共{pages}页")
    lines = [f"{product.id}  {heading}"]
    for review in product.reviews[start : start + _REVIEWS_PER_PAGE]:
        said = f"{review.author[language]}{say(language, ': ', '：')}{review.text[language]}"
        lines.append(f"{'★' * review.stars} {said}")
    return "\n".join(lines)


def variant_text(product: Product, variant: Variant, language: Language) -> str:
    """Return one variant: price, stock, picture."""
    stock = (
        say(language, f"{variant.stock} in stock", f"库存{variant.stock}件")
        if variant.stock
        else say(language, "sold out", "缺货")
    )
    return (
        f"{variant.id}  {chosen_text(product, variant, language)}: "
        f"{money(variant.price_cents, language)}, {stock}. {variant.image[language]}"
    )


def comparison_text(products: Sequence[Product], language: Language) -> str:
    """Return items side by side, row by row; facts known only from reviews are not included."""
    tables = [dict(_table(product, language)) for product in products]
    lines = ["  |  ".join(["", *(product.id for product in products)])]
    lines.append("  |  ".join(["", *(product.title[language] for product in products)]))
    labels = dict.fromkeys(label for table in tables for label in table)
    for label in labels:
        lines.append("  |  ".join([label, *(table.get(label, "–") for table in tables)]))
    prices = [money(product.price_cents, language) for product in products]
    lines.append("  |  ".join([say(language, "From", "起价"), *prices]))
    return "\n".join(lines)


def cart_text(
    lines: Sequence[tuple[Product, Variant, int]],
    price: PriceBreakdown,
    language: Language,
) -> str:
    """Return the cart with its price."""
    if not lines:
        return say(language, "The cart is empty.", "购物车是空的。")
    rows = [
        f"{quantity} × {variant.id}  {product.title[language]} "
        f"({chosen_text(product, variant, language)})  "
        f"{money(variant.price_cents * quantity, language)}"
        for product, variant, quantity in lines
    ]
    parts = [(say(language, "Goods", "商品"), price.subtotal_cents)]
    if price.bundle_cents:
        parts.append((say(language, "Bundle discount", "套装优惠"), -price.bundle_cents))
    for code, cents in price.coupon_cents.items():
        parts.append((f"{say(language, 'Coupon', '优惠券')} {code}", -cents))
    parts.append((say(language, "Delivery", "运费"), price.shipping_cents))
    parts.append((say(language, "Total", "合计"), price.total_cents))
    colon = say(language, ": ", "：")
    rows += [f"{label}{colon}{money(cents, language)}" for label, cents in parts]
    rows += [
        f"{say(language, 'Coupon not used', '优惠券未生效')} {code}{colon}{reason}"
        for code, reason in price.refused.items()
    ]
    return "\n".join(rows)


def coupons_text(coupons: Sequence[Coupon], language: Language) -> str:
    """Return the coupons that the customer holds."""
    lines = [_coupon_text(coupon, language) for coupon in coupons]
    return "\n".join(lines) or say(language, "There are no coupons.", "没有优惠券。")


def _coupon_text(coupon: Coupon, language: Language) -> str:
    """Return the terms of a coupon."""
    gain = {
        "percent": say(language, f"{coupon.value}% off", f"减{coupon.value}%"),
        "amount": f"{money(coupon.value, language)} {say(language, 'off', '立减')}",
        "shipping": say(language, "free delivery", "免运费"),
    }[coupon.kind]
    terms = [gain]
    if coupon.minimum_cents:
        least = money(coupon.minimum_cents, language)
        terms.append(say(language, f"covered goods worth {least} or more", f"适用商品满{least}"))
    if coupon.maximum_cents is not None:
        most = money(coupon.maximum_cents, language)
        terms.append(say(language, f"at most {most}", f"最多减{most}"))
    names = [category_of(slug).text[language] for slug in coupon.categories]
    if names:
        terms.append(f"{say(language, 'only', '仅限')} {', '.join(names)}")
    names = [category_of(slug).text[language] for slug in coupon.excluded_categories]
    names += [*coupon.excluded_brands, *coupon.excluded_sellers]
    if names:
        terms.append(f"{say(language, 'not on', '不适用于')} {', '.join(names)}")
    if coupon.first_order_only:
        terms.append(say(language, "first order only", "仅限首单"))
    stack = (
        ("may stand beside others", "可叠加") if coupon.stackable else ("alone only", "不可叠加")
    )
    terms.append(say(language, *stack))
    if coupon.last_day is not None:
        terms.append(
            say(language, f"valid to day {coupon.last_day}", f"有效至第{coupon.last_day}天")
        )
    return f"{coupon.code}: {'; '.join(terms)}"


def rules_text(rules: Rules, language: Language) -> str:
    """Return the price rules, in order of application."""
    lines = [
        say(
            language,
            f"Today is day {rules.today}. A cart is priced in this order: bundle discounts; then "
            f"coupons in the order given, each on what is left of the goods that it covers, at "
            f"most {rules.max_coupons} of them; then delivery on what is left. Percentages are "
            "rounded down to a cent, and a discount comes off line by line, in the order of the "
            "cart, until its limit is reached.",
            f"今天是第{rules.today}天。购物车计价顺序：先套装优惠；再按使用顺序计算优惠券，"
            f"每张只作用于其适用商品的剩余金额，最多{rules.max_coupons}张；最后按剩余商品金额计算运费。"
            "百分比按每行向下取整到分；优惠按购物车顺序逐行扣减，直到达到上限。",
        )
    ]
    for region, rate in rules.shipping.items():
        free = (
            say(language, "never free", "不免运费")
            if rate.free_from_cents is None
            else say(
                language,
                f"free from {money(rate.free_from_cents, language)}",
                f"满{money(rate.free_from_cents, language)}免运费",
            )
        )
        lines.append(
            say(
                language,
                f"Delivery to {region}: standard {money(rate.standard_cents, language)} ({free}), "
                f"express {money(rate.express_cents, language)}",
                f"配送至 {region}：标准 {money(rate.standard_cents, language)}（{free}），"
                f"加急 {money(rate.express_cents, language)}",
            )
        )
    for bundle in rules.bundles.values():
        lines.append(
            say(
                language,
                f"Bundle {bundle.id}: one item of each part bought together, {bundle.percent}% off "
                "every item of a complete set",
                f"套装 {bundle.id}：两个部分各买一件，成套商品每件减{bundle.percent}%",
            )
        )
    return "\n".join(lines)

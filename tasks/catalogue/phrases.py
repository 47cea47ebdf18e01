"""Phrasing of constraints: the phrase books that the event draws from.

English phrases are third-person verb phrases that follow "one that ..."; Chinese ones are
predicates that follow 要求 or a comma. With `gap`, the words are the shopper's own and avoid the
shop's; without it, they are the shop's.
"""

from collections.abc import Mapping

from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.catalogue.constraint import Constraint
from hexathlon.tasks.catalogue.grammar import Attribute, Category

__all__ = ["phrases_for", "slot_name"]

_LABELS = {
    "category": BilingualText("category", "品类"),
    "kind": BilingualText("type", "类型"),
    "brand": BilingualText("brand", "品牌"),
    "series": BilingualText("product line", "系列"),
    "price": BilingualText("budget", "预算"),
    "rating": BilingualText("rating", "评分"),
    "seller": BilingualText("seller", "卖家"),
    "shipping": BilingualText("delivery time", "送达时间"),
    "returns": BilingualText("return period", "退货期"),
}
_ASKS: Mapping[str, tuple[BilingualText, ...]] = {
    "category": (BilingualText("belongs to {}", "属于{}"),),
    "kind": (BilingualText("is sold as {}", "是{}"), BilingualText("counts as {}", "算{}")),
    "brand": (BilingualText("is made by {}", "是{}牌的"), BilingualText("comes from {}", "出自{}")),
    "series": (
        BilingualText("is from the {} line", "是{}系列的"),
        BilingualText("belongs to the {} range", "属于{}这条线"),
    ),
    "price<=": (
        BilingualText("costs {} at most", "价格不超过{}"),
        BilingualText("stays within {}", "{}以内"),
        BilingualText("is no dearer than {}", "最多花{}"),
    ),
    "price>=": (BilingualText("costs {} or more", "价格不低于{}"),),
    "rating": (
        BilingualText("is rated {} stars or better", "评分不低于{}星"),
        BilingualText("has {} stars at least from other buyers", "买家打分至少{}星"),
    ),
    "seller": (
        BilingualText("is sold by {}", "由{}出售"),
        BilingualText("ships from the shop {}", "是{}这家店的"),
    ),
    "shipping": (
        BilingualText("arrives within {} days", "{}天之内送到"),
        BilingualText("is with me in {} days at the latest", "最迟{}天到手"),
    ),
    "returns": (
        BilingualText("can be sent back for at least {} days", "至少{}天内可退"),
        BilingualText("leaves me {} days or longer to send it back", "收货后{}天或更久都能退"),
    ),
}  # fmt: skip
_LISTED = BilingualText("is listed under {} as {}", "{}标明{}")
_VOWELS = "aeioAEIO"


def slot_name(constraint: Constraint, language: Language, category: Category) -> str:
    """Return a clerk's name for the subject of the constraint."""
    key = constraint.name if constraint.name in _LABELS else constraint.kind
    if key in _LABELS:
        return _LABELS[key][language]
    label = category.attribute(constraint.name).label[language]
    return label[0].lower() + label[1:]


def phrases_for(
    constraint: Constraint,
    language: Language,
    category: Category,
    names: Mapping[str, BilingualText],
    *,
    gap: bool = True,
) -> tuple[str, ...]:
    """Return ways to phrase a constraint; never empty.

    `names` maps the slugs of brands, series and sellers to their names.
    """
    if constraint.name in category.by_name and constraint.kind not in ("price", "rating"):
        return _attribute_phrases(constraint, language, category.attribute(constraint.name), gap)
    key, shown = _shown(constraint, language, category, names)
    return tuple(ask[language].format(shown) for ask in _ASKS[key])


def _attribute_phrases(
    constraint: Constraint, language: Language, item: Attribute, gap: bool
) -> tuple[str, ...]:
    value = item.values[item.code(str(constraint.value))]
    own = value.asks_zh if language == "zh" else value.asks_en
    if item.order != "none" and constraint.op == "==":
        if item.exact is not None:
            return (item.exact[language].format(value.text[language]),)
        return (_LISTED[language].format(item.label[language], value.text[language]),)
    if own and (gap or item.order != "none"):
        return own
    if value.plain is not None:
        return (value.plain[language],)
    return (_with_article(item.plain[language], value.text[language]),)


def _with_article(pattern: str, value: str) -> str:
    """Insert a value into a pattern; its article becomes "an" where the value requires it."""
    if value[0] in _VOWELS:
        pattern = pattern.replace(" a {}", " an {}")
    return pattern.format(value)


def _shown(
    constraint: Constraint,
    language: Language,
    category: Category,
    names: Mapping[str, BilingualText],
) -> tuple[str, str]:
    """Return (key in the phrase book, value in a shopper's words)."""
    kind, name, value = constraint.kind, constraint.name, constraint.value
    if kind == "price":
        cents = int(value)
        whole = f"{cents // 100}" if cents % 100 == 0 else f"{cents / 100:.2f}"
        return f"price{constraint.op}", f"{whole}元" if language == "zh" else f"${whole}"
    if kind == "rating":
        return kind, f"{int(value) / 10:g}"
    if kind in ("shipping", "returns"):
        return kind, str(value)
    if name == "category":
        return name, category.text[language]
    if name == "kind":
        return name, category.kind(str(value)).text[language]
    return name, names[str(value)][language]

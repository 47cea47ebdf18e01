"""Looks of pages: layout, wording and order.

Every look shows the same facts. Training uses three looks, evaluation five: those and two others.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.task import Split

__all__ = ["LOOKS", "MarketLook", "MarketRow", "draw_market_look", "labelled_rows", "paired_rows"]

MarketRow = Mapping[str, str]
"""Field to text; the first field names the record."""


class MarketLook(NamedTuple):
    """One appearance."""

    name: str
    layout: Literal["lines", "table", "cards", "tabs", "prose"]
    wording: int
    """Which of three names of each field is used."""

    backwards: bool
    """Whether fields and records come in the opposite order."""


LOOKS: dict[str, MarketLook] = {
    look.name: look
    for look in (
        MarketLook("stall", "lines", 0, False),
        MarketLook("grid", "table", 1, True),
        MarketLook("slips", "cards", 0, True),
        MarketLook("sheet", "tabs", 2, False),
        MarketLook("notes", "prose", 2, True),
    )
}
_TRAINING = ("stall", "grid", "slips")

_LABELS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "brand": (("brand", "品牌"), ("make", "牌子"), ("made by", "品牌")),
    "units": (("pack of", "每包"), ("units per pack", "每包数量"),
              ("contents of a pack", "包装数量")),
    "price": (("price", "价格"), ("list price", "售价"), ("costs", "单价")),
    "seller": (("seller", "卖家"), ("sold by", "店铺"), ("shop", "商家")),
    "stock": (("in stock", "库存"), ("available", "可售数量"), ("left in stock", "余量")),
    "dispatch": (("days to dispatch", "发货天数"), ("dispatched after (days)", "几天后发货"),
                 ("handling days", "备货天数")),
    "contains": (("allergens", "致敏成分"), ("may cause allergies", "含致敏物"),
                 ("allergy notice", "过敏提示")),
    "returns": (("return days after arrival", "到货后可退天数"),
                ("returnable for (days)", "退货天数"),
                ("days to return", "可退天数")),
    "reviews": (("reviews", "评价数"), ("number of reviews", "评价条数"), ("reviews", "评价")),
    "fee": (("delivery fee", "运费"), ("delivery costs", "配送费"), ("postage", "邮费")),
    "free": (("free delivery from", "包邮门槛"), ("no delivery fee from", "满额包邮"),
             ("postage free from", "免邮起点")),
    "days": (("days on the way", "在途天数"), ("transit days", "运输天数"),
             ("days in transit", "路上几天")),
    "pause": (("sends nothing on days", "停发日"), ("closed for dispatch", "不发货的日子"),
              ("no dispatch on days", "暂停发货")),
    "system": (("system", "制式"), ("fits system", "适用制式"), ("system", "制式")),
    "sent": (("dispatch day", "发货日"), ("dispatched on day", "第几天发货"),
             ("leaves on day", "出库日")),
    "reserved": (("reserved", "已预留"), ("held for others", "为他人预留"), ("reserved", "预留")),
    "goods": (("goods", "商品"), ("contents", "内容"), ("articles", "货品")),
    "article": (("variant", "款式编号"), ("item number", "货号"), ("variant", "款式编号")),
    "chosen": (("options", "选项"), ("version", "款式"), ("options", "选项")),
    "kind": (("category", "品类"), ("department", "类目"), ("category", "品类")),
    "remarks": (("remarks", "备注"), ("notes", "说明"), ("remarks", "备注")),
    "status": (("status", "状态"), ("state", "进度"), ("status", "状态")),
    "dates": (("days", "日期"), ("timeline", "时间"), ("days", "日期")),
    "bundle": (("set discount", "成套优惠"), ("multi-buy offer", "多类优惠"),
               ("combined discount", "组合立减")),
}  # fmt: skip


def draw_market_look(split: Split, rng: np.random.Generator) -> MarketLook:
    """Draw a look of a split."""
    names = _TRAINING if split == "train" else tuple(LOOKS)
    return LOOKS[names[int(rng.integers(len(names)))]]


def paired_rows(pairs: Sequence[tuple[str, str]], look: MarketLook, language: Language) -> str:
    """Return the labels and values of one record as a look shows them.

    >>> paired_rows([("Cover", "mesh"), ("Recline", "120°")], LOOKS["notes"], "en")
    'Recline: 120°; Cover: mesh.'
    """
    ordered = list(pairs)[::-1] if look.backwards else list(pairs)
    side = language == "zh"
    colon = "：" if side else ": "
    match look.layout:
        case "table":
            return "\n".join(f"| {label} | {value} |" for label, value in ordered)
        case "tabs":
            return "\n".join(f"{label}\t{value}" for label, value in ordered)
        case "prose":
            text = ("；" if side else "; ").join(f"{label}{colon}{v}" for label, v in ordered)
            return text + ("。" if side else ".")
        case "cards":
            return "\n".join(f"  {label}{colon}{value}" for label, value in ordered)
    return "\n".join(f"{label}{colon}{value}" for label, value in ordered)


def labelled_rows(
    rows: Sequence[MarketRow], look: MarketLook, language: Language, labels: Mapping[str, str] = {}
) -> str:
    """Return records as a look shows them.

    Args:
        rows: Records; `id` names each of them.
        look: The look.
        language: Language of the labels.
        labels: Labels of fields that the look does not name.
    """
    if not rows:
        return "-"
    ordered = list(rows)[::-1] if look.backwards else list(rows)
    fields = [name for name in ordered[0] if name != "id"]
    fields = fields[::-1] if look.backwards else fields
    side = language == "zh"
    named = {
        name: labels.get(name) or _LABELS.get(name, ((name, name),) * 3)[look.wording][side]
        for name in fields
    }
    if look.layout == "table":
        head = "| id | " + " | ".join(named.values()) + " |"
        body = ["| " + " | ".join([row["id"], *(row[f] for f in fields)]) + " |" for row in ordered]
        return "\n".join([head, *body])
    if look.layout == "tabs":
        head = "\t".join(["id", *named.values()])
        return "\n".join([head, *("\t".join([r["id"], *(r[f] for f in fields)]) for r in ordered)])
    colon = "：" if side else ": "
    if look.layout == "cards":
        return "\n\n".join(
            "\n".join([f"[{row['id']}]", *(f"  {named[f]}{colon}{row[f]}" for f in fields)])
            for row in ordered
        )
    if look.layout == "prose":
        colon, comma, stop = ("：", "，", "。") if side else (" ", ", ", ".")
        if any(comma in text for row in ordered for text in row.values()):
            colon, comma = ("：", "；") if side else (": ", "; ")
        return "\n".join(
            f"{row['id']} – {comma.join(f'{named[f]}{colon}{row[f]}' for f in fields)}{stop}"
            for row in ordered
        )
    between = "；" if side else "; "
    return "\n".join(
        f"{row['id']}  " + between.join(f"{named[f]}{colon}{row[f]}" for f in fields)
        for row in ordered
    )

"""Small parts of the shop's pages."""

from collections.abc import Sequence

from markupsafe import Markup

from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.sites.shop.vocabulary import shop_label

__all__ = ["choices", "stars"]


def stars(call: Call, tenths: int, count: int) -> Markup:
    """A rating, drawn by a web component."""
    text = call.words("rated", stars=f"{tenths / 10:.1f}", count=count)
    return call.ui.shadow(Markup('<span class="badge">{}</span>').format(text))


def choices(call: Call, values: Sequence[str]) -> list[tuple[str, str]]:
    """Values with their labels, for a select."""
    return [(value, shop_label(value, call.language)) for value in values]

"""The shop app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.shop.content import EXPRESS_FEE, STANDARD_FEE, seed_shop
from hexathlon.tasks.gui.world.apps.shop.goods import SHOP_CATEGORIES
from hexathlon.tasks.gui.world.kit.events import do, go, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Card,
    Chips,
    Choice,
    Columns,
    Divider,
    Heading,
    IconButton,
    ListRow,
    ListView,
    Picture,
    Radio,
    ScreenWidget,
    Select,
    Tabs,
    TextField,
    TextLabel,
    Tile,
    TileGrid,
    Toggle,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_text

__all__ = ["RETURN_REASONS", "ShopApp"]

_SORTS = ("popular", "cheap", "dear", "rating")
_ICONS = {"kitchen": "cake", "garden": "sun", "electronics": "battery", "sports": "timer",
          "office": "work"}  # fmt: skip
RETURN_REASONS = ("broken", "wrong", "unwanted")
"""Reasons for returning an item."""


class ShopApp(PhoneApp):
    """A shop."""

    name: ClassVar[str] = "shop"
    icon: ClassVar[str] = "cart"
    colour = (196, 74, 40)
    tables = {"products": (), "cart": (), "orders": (), "lines": (), "addresses": (),
              "vouchers": (), "prefs": ()}  # fmt: skip
    references = {"lines": {"order": "shop.orders"}}

    def seed(self, draws: ContentDraws) -> None:
        """Draw a catalogue with variants, earlier orders, addresses and vouchers."""
        seed_shop(draws)

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """The storefront, orders or the account."""
        tab = view.value("tab", "shop")
        tabs = Tabs([
            Choice(view("browse"), put("tab", "shop"), tab == "shop", "shop"),
            Choice(view("orders"), put("tab", "orders"), tab == "orders", "archive"),
            Choice(view("me"), put("tab", "me"), tab == "me", "person"),
        ])  # fmt: skip
        count = sum(row["count"] for row in view.rows("cart"))
        children = {"shop": self._window, "orders": self._orders, "me": self._me}[tab](view)
        return AppPage(view("app_title"), children, [
            BarAction("search", view("search"), go("search")),
            BarAction("cart", f"{view('cart')} ({count})" if count else view("cart"), go("cart")),
        ], tabs=tabs, home=True)  # fmt: skip

    def _window(self, view: AppView) -> list[Any]:
        offers = sorted((row for row in view.rows("products") if row["stock"]),
                        key=lambda row: (-row["reviews"], row["id"]))[:6]  # fmt: skip
        return [
            Chips([Choice(view(name), go("category", name=name), icon=_ICONS[name])
                   for name in SHOP_CATEGORIES]),
            Heading(view("popular")),
            TileGrid([Tile(f"{cents_text(row['price'], view.language)} · {row['title']}, "
                           f"{row['variant']}", go("product", id=row["id"]), picture=_art(row))
                      for row in offers], 2),
        ]  # fmt: skip

    def _orders(self, view: AppView) -> list[Any]:
        rows = sorted(view.rows("orders"), key=lambda row: (row["day"], row["id"]), reverse=True)
        return [ListView(rows, lambda row: ListRow(
            row["number"], f"{view.day(row['day'])} · {view('status_' + row['status'])}",
            go("order", id=row["id"]), value=cents_text(row["total"], view.language),
            icon="archive"), view("nothing"))]  # fmt: skip

    def _me(self, view: AppView) -> list[Any]:
        return [
            ListRow(view("wishlist"), on=go("wishlist"), icon="heart"),
            ListRow(view("addresses"), on=go("addresses"), icon="place"),
            ListRow(view("vouchers"), on=go("vouchers"), icon="tag"),
            ListRow(view("settings"), on=go("settings"), icon="gear"),
        ]

    def screen_category(self, view: AppView) -> ScreenWidget:
        """The items of a category."""
        name = view.params["name"]
        rows = [row for row in view.rows("products") if row["category"] == name]
        return AppPage(view(name), self._articles(view, rows),
                       [BarAction("search", view("search"), go("search")),
                        BarAction("cart", view("cart"), go("cart"))])  # fmt: skip

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Items by all words of their name, brand or variant."""
        words = str(view.value("query")).casefold().split()
        rows = [row for row in view.rows("products") if words and all(
            word in f"{row['title']} {row['variant']}".casefold() for word in words)]  # fmt: skip
        return AppPage(view("search"), self._articles(view, rows) if words else [],
                       [BarAction("cart", view("cart"), go("cart"))],
                       search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def _articles(self, view: AppView, rows: list[PhoneRow]) -> list[Any]:
        chosen = view.value("sort", _pref(view, "sort"))
        if _pref(view, "in_stock"):
            rows = [row for row in rows if row["stock"]]
        keys = {"popular": lambda row: (-row["reviews"], row["id"]),
                "cheap": lambda row: (row["price"], row["id"]),
                "dear": lambda row: (-row["price"], row["id"]),
                "rating": lambda row: (-row["rating"], row["id"])}  # fmt: skip
        rows = sorted(rows, key=keys[chosen])
        return [
            Select("sort", view("sort"), [(name, view(f"sort_{name}")) for name in _SORTS], chosen),
            ListView(rows, lambda row: _article(view, row), view("nothing")),
        ]

    def screen_product(self, view: AppView) -> ScreenWidget:
        """One item."""
        row = view.row("products", view.params["id"])
        if row is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        stock = view("stock", n=row["stock"]) if row["stock"] else view("sold_out")
        kin = [each for each in view.rows("products")
               if each["title"] == row["title"] and each["id"] != key]  # fmt: skip
        return AppPage(row["title"], [
            Picture(_art(row), 170, row["title"]),
            Columns((TextLabel(cents_text(row["price"], view.language), "big"),
                     IconButton("heart", view("unwish" if row["wished"] else "wish"),
                                do("wish", id=key), row["wished"])), (5, 1)),
            TextLabel(f"{row['brand']} · {row['variant']}"),
            TextLabel(f"{row['rating'] / 10:.1f} ★ · {view('reviews', n=row['reviews'])}", "dim"),
            TextLabel(stock, "small" if row["stock"] else "error"),
            Button(view("to_cart"), do("to_cart", id=key), enabled=row["stock"] > 0),
            Heading(view("variants")) if kin else None,
            *(_article(view, each) for each in kin),
        ], [BarAction("share", view("share"), do("share", id=key)),
            BarAction("cart", view("cart"), go("cart"))])  # fmt: skip

    def screen_cart(self, view: AppView) -> ScreenWidget:
        """The contents of the cart."""
        parts: list[Any] = []
        for row in view.rows("cart"):
            product = view.row("products", row["product"])
            if product is None:
                continue
            name = f"{product['title']}, {product['variant']}"
            parts.append(Card([
                ListRow(name, cents_text(product["price"], view.language),
                        go("product", id=product["id"]), picture=_art(product),
                        swipe_left=do("drop", id=row["id"])),
                Columns((IconButton("minus", f"{view('less')}: {name}",
                                    do("count", id=row["id"], by=-1)),
                         TextLabel(f"× {row['count']}", centre=True),
                         IconButton("plus", f"{view('more')}: {name}",
                                    do("count", id=row["id"], by=1)),
                         IconButton("delete", f"{view('delete')}: {name}",
                                    do("drop", id=row["id"])))),
            ]))  # fmt: skip
        if not parts:
            return AppPage(view("cart"), [TextLabel(view("cart_empty"), "dim", centre=True)])
        total = cents_text(_goods_total(view), view.language)
        return AppPage(view("cart"), parts, bottom=[
            TextLabel(f"{view('subtotal')}: {total}", "title"),
            Button(view("checkout"), go("checkout")),
        ])  # fmt: skip

    def screen_checkout(self, view: AppView) -> ScreenWidget:
        """Address, delivery and voucher of an order."""
        addresses = [(str(row["id"]), f"{row['label']}: {row['text']}")
                     for row in view.rows("addresses")]  # fmt: skip
        first = addresses[0][0] if addresses else ""
        deliveries = [
            (name, f"{view(name)} · {cents_text(fee, view.language)}")
            for name, fee in (("standard", STANDARD_FEE), ("express", EXPRESS_FEE))
        ]
        fee = EXPRESS_FEE if view.value("delivery", "standard") == "express" else STANDARD_FEE
        goods = _goods_total(view)
        less = view.value("less", 0)
        return AppPage(view("checkout"), [
            Radio("address", view("address"), addresses, first),
            Button(view("new_address"), go("address"), "text"),
            Radio("delivery", view("delivery"), deliveries, "standard"),
            Divider(),
            Columns((TextField("code", view("code"), ""),
                     Button(view("redeem"), do("redeem"), "outlined")), (3, 2)),
            TextLabel(f"{view('subtotal')}: {cents_text(goods, view.language)}", "dim"),
            TextLabel(f"{view('voucher')}: {cents_text(-less, view.language)}", "dim")
            if less else None,
            TextLabel(f"{view('total')}: {cents_text(goods + fee - less, view.language)}", "title"),
            Button(view("buy"), do("ask_buy")),
        ])  # fmt: skip

    def screen_order(self, view: AppView) -> ScreenWidget:
        """One order."""
        row = view.row("orders", view.params["id"])
        if row is None:
            return AppPage(view("orders"), [TextLabel(view("nothing"), "dim")])
        key, parts = row["id"], []
        for line in view.rows("lines"):
            product = view.row("products", line["product"])
            if line["order"] != key or product is None:
                continue
            state = f" · {view('returning')}" if line["returned"] else ""
            parts.append(
                ListRow(
                    f"{product['title']}, {product['variant']}",
                    f"{line['count']} × {cents_text(line['price'], view.language)}{state}",
                    go("line", id=line["id"]),
                    picture=_art(product),
                )
            )
        actions = [BarAction("repeat", view("again"), do("again", id=key), rare=True)]
        if row["status"] == "placed":
            actions.append(BarAction("close", view("cancel_order"), do("ask_cancel", id=key),
                                     rare=True))  # fmt: skip
        return AppPage(row["number"], [
            TextLabel(view(f"status_{row['status']}"), "title"),
            TextLabel(view.day(row["day"]), "dim"), *parts, Divider(),
            ListRow(view("address"), row["address"]), ListRow(view("delivery"),
                                                              view(row["delivery"])),
            ListRow(view("voucher"), row["voucher"]) if row["voucher"] else None,
            TextLabel(f"{view('total')}: {cents_text(row['total'], view.language)}", "title"),
        ], actions)  # fmt: skip

    def screen_line(self, view: AppView) -> ScreenWidget:
        """An item of an order, which may be returned after delivery."""
        line = view.row("lines", view.params["id"])
        product = view.row("products", line["product"]) if line else None
        order = view.row("orders", line["order"]) if line else None
        if line is None or product is None or order is None:
            return AppPage(view("orders"), [TextLabel(view("nothing"), "dim")])
        parts: list[Any] = [
            ListRow(f"{product['title']}, {product['variant']}", order["number"],
                    go("product", id=product["id"]), picture=_art(product)),
            ListRow(view("price"), f"{line['count']} × "
                                   f"{cents_text(line['price'], view.language)}"),
        ]  # fmt: skip
        if line["returned"]:
            parts += [TextLabel(f"{view('returning')}: {view('why_' + line['returned'])}"),
                      Button(view("keep"), do("keep", id=line["id"]), "outlined")]  # fmt: skip
        elif order["status"] == "delivered":
            reasons = [(name, view(f"why_{name}")) for name in RETURN_REASONS]
            parts += [Select("why", view("why"), reasons, ""),
                      Button(view("send_back"), do("send_back", id=line["id"]))]  # fmt: skip
        else:
            parts.append(TextLabel(view("not_delivered"), "dim"))
        return AppPage(view("article"), parts)

    def screen_wishlist(self, view: AppView) -> ScreenWidget:
        """Items on the wish list."""
        rows = [row for row in view.rows("products") if row["wished"]]
        return AppPage(view("wishlist"), [ListView(
            rows, lambda row: _article(view, row), view("nothing"))])  # fmt: skip

    def screen_addresses(self, view: AppView) -> ScreenWidget:
        """Delivery addresses."""
        return AppPage(view("addresses"), [
            ListRow(row["label"], row["text"], go("address", id=row["id"]), icon="place",
                    swipe_left=do("drop_address", id=row["id"]))
            for row in view.rows("addresses")
        ], create=BarAction("plus", view("new_address"), go("address")))  # fmt: skip

    def screen_address(self, view: AppView) -> ScreenWidget:
        """The address form."""
        key = view.params.get("id")
        row = (view.row("addresses", key) if key else None) or {"label": "", "text": ""}
        actions = [BarAction("check", view("save"), do("save_address", id=key))]
        if key:
            actions.append(BarAction("delete", view("delete"), do("drop_address", id=key),
                                     rare=True))  # fmt: skip
        return AppPage(view("address" if key else "new_address"), [
            TextField("label", view("label"), row["label"]),
            TextField("text", view("street"), row["text"]),
        ], actions)  # fmt: skip

    def screen_vouchers(self, view: AppView) -> ScreenWidget:
        """Vouchers with their terms."""
        return AppPage(view("vouchers"), [
            ListRow(row["code"], view("terms", minimum=cents_text(row["minimum"], view.language),
                                      until=view.day(row["until"])), lines=2, icon="tag",
                    value=view("used") if row["used"] else cents_text(row["cents"], view.language))
            for row in view.rows("vouchers")
        ])  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Settings of the app."""
        return AppPage(view("settings"), [
            Select("sort", view("sort"), [(name, view(f"sort_{name}")) for name in _SORTS],
                   _pref(view, "sort"), do("set", name="sort")),
            *(Toggle(view(name), _pref(view, name),
                     do("set", name=name, value=not _pref(view, name)))
              for name in ("in_stock", "mails")),
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)

    def do_wish(self, acts: AppActs, id: int) -> None:
        """Put an item on the wish list, or take it off."""
        row = acts.row("products", id)
        acts.change("products", id, wished=not (row and row["wished"]))

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share an item as text."""
        row = acts.row("products", id)
        if row is not None:
            acts.share(row["title"], f"{row['title']}, {row['variant']}, "
                                     f"{cents_text(row['price'], acts.language)}")  # fmt: skip

    def do_to_cart(self, acts: AppActs, id: int) -> None:
        """Put one unit into the cart."""
        _put_in_cart(acts, id, 1)
        acts.toast(acts("in_cart"))

    def do_count(self, acts: AppActs, id: int, by: int) -> None:
        """Change an item's quantity; at zero, it leaves the cart."""
        row = acts.row("cart", id)
        product = acts.row("products", row["product"]) if row else None
        if row is None or product is None:
            return
        if row["count"] + by < 1:
            acts.remove("cart", id)
        elif row["count"] + by > product["stock"]:
            acts.toast(acts("stock", n=product["stock"]))
        else:
            acts.change("cart", id, count=row["count"] + by)

    def do_drop(self, acts: AppActs, id: int) -> None:
        """Take an item out of the cart."""
        acts.remove("cart", id)

    def do_redeem(self, acts: AppActs) -> None:
        """Use a voucher, if its terms are met."""
        code = str(acts.value("code")).strip().upper()
        row = next((row for row in acts.rows("vouchers") if row["code"] == code), None)
        if row is None or row["used"]:
            acts.toast(acts("code_unknown"))
        elif row["until"] < acts.today.isoformat():
            acts.toast(acts("code_over"))
        elif _goods_total(acts) < row["minimum"]:
            acts.toast(acts("code_minimum", minimum=cents_text(row["minimum"], acts.language)))
        else:
            acts.put("less", row["cents"])
            acts.put("voucher", code)
            acts.toast(acts("redeemed"))

    def do_ask_buy(self, acts: AppActs) -> None:
        """Ask before the order is placed."""
        rows = acts.rows("addresses")
        key = acts.value("address", str(rows[0]["id"]) if rows else "")
        address = acts.row("addresses", int(key)) if key else None
        if address is None:
            acts.toast(acts("address_missing"))
            return
        if not acts.rows("cart"):
            acts.toast(acts("cart_empty"))
            return
        delivery = acts.value("delivery", "standard")
        fee = EXPRESS_FEE if delivery == "express" else STANDARD_FEE
        total = _goods_total(acts) + fee - acts.value("less", 0)
        acts.confirm(acts("buy_question", total=cents_text(total, acts.language)),
                     do("buy", address=address["text"], delivery=delivery, total=total,
                        voucher=acts.value("voucher", "")), acts("buy_now"),
                     address["text"])  # fmt: skip

    def do_buy(self, acts: AppActs, address: str, delivery: str, total: int,
               voucher: str) -> None:  # fmt: skip
        """Place the order."""
        number = f"M-{70000 + 37 * len(acts.rows('orders'))}"
        key = acts.add(
            "orders",
            number=number,
            day=acts.today.isoformat(),
            status="placed",
            total=total,
            delivery=delivery,
            address=address,
            voucher=voucher,
        )
        for row in acts.rows("cart"):
            product = acts.row("products", row["product"])
            if product is not None:
                acts.add("lines", order=key, product=row["product"], count=row["count"],
                         price=product["price"], returned="")  # fmt: skip
            acts.remove("cart", row["id"])
        for row in acts.rows("vouchers"):
            if row["code"] == voucher:
                acts.change("vouchers", row["id"], used=True)
        acts.back_to("home")
        acts.go("order", id=key)
        acts.toast(acts("ordered"))

    def do_again(self, acts: AppActs, id: int) -> None:
        """Put the items of an order into the cart."""
        for line in acts.rows("lines"):
            if line["order"] == id:
                _put_in_cart(acts, line["product"], line["count"])
        acts.go("cart")

    def do_ask_cancel(self, acts: AppActs, id: int) -> None:
        """Ask before an order is cancelled."""
        acts.confirm(acts("cancel_question"), do("cancel", id=id), acts("cancel_order"))

    def do_cancel(self, acts: AppActs, id: int) -> None:
        """Cancel an order that has not been sent yet."""
        acts.change("orders", id, status="cancelled")

    def do_send_back(self, acts: AppActs, id: int) -> None:
        """Request a return."""
        why = acts.value("why")
        if not why:
            acts.toast(acts("why_missing"))
            return
        acts.change("lines", id, returned=why)
        acts.toast(acts("returning"))

    def do_keep(self, acts: AppActs, id: int) -> None:
        """Withdraw a return."""
        acts.change("lines", id, returned="")

    def do_save_address(self, acts: AppActs, id: int | None) -> None:
        """Store the address form."""
        row = (acts.row("addresses", id) if id else None) or {"label": "", "text": ""}
        values = {name: str(acts.value(name, row[name])).strip() for name in ("label", "text")}
        if not values["label"] or not values["text"]:
            acts.toast(acts("address_wrong"))
            return
        acts.back()
        if id:
            acts.change("addresses", id, **values)
        else:
            acts.add("addresses", **values)
        acts.toast(acts("saved"))

    def do_drop_address(self, acts: AppActs, id: int) -> None:
        """Ask before an address is deleted."""
        row = acts.row("addresses", id)
        acts.confirm(acts("address_question"), do("delete_address", id=id), acts("delete"),
                     row["label"] if row else "")  # fmt: skip

    def do_delete_address(self, acts: AppActs, id: int) -> None:
        """Delete an address."""
        acts.remove("addresses", id)
        acts.back_to("addresses", "checkout", "home")
        acts.toast(acts("deleted"))


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else None


def _art(row: PhoneRow) -> tuple[Any, ...]:
    return ("product", row["art"], row["brand"], row["title"].removeprefix(f"{row['brand']} "),
            row["variant"])  # fmt: skip


def _article(view: AppView, row: PhoneRow) -> ListRow:
    state = f"{row['rating'] / 10:.1f} ★" if row["stock"] else view("sold_out")
    return ListRow(f"{row['title']}, {row['variant']}", f"{state} · {row['reviews']}",
                   go("product", id=row["id"]), value=cents_text(row["price"], view.language),
                   picture=_art(row))  # fmt: skip


def _goods_total(view: AppView) -> int:
    total = 0
    for row in view.rows("cart"):
        product = view.row("products", row["product"])
        total += product["price"] * row["count"] if product else 0
    return total


def _put_in_cart(acts: AppActs, product: int, count: int) -> None:
    """Add units to those already in the cart."""
    row = next((row for row in acts.rows("cart") if row["product"] == product), None)
    if row is None:
        acts.add("cart", product=product, count=count)
    else:
        acts.change("cart", row["id"], count=row["count"] + count)

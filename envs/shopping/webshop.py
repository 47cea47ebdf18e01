"""WebShop's pages as text: search, results, item, description and features."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hexathlon.tasks.shopping.loaders.webshop_data import read_webshop
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.task import Task

__all__ = ["WebShopWorld"]

_HITS, _PER_PAGE = 50, 10
_RAW = re.compile(r"\s*(search|click)\[(.*)\]\s*", re.DOTALL)
_SUBPAGES = ("description", "features", "reviews")


class _Page(NamedTuple):
    """The shopper's position; everything that a snapshot needs."""

    kind: str = "search"
    hits: tuple[str, ...] = ()
    number: int = 1
    asin: str = ""
    chosen: tuple[tuple[str, str], ...] = ()
    opened: tuple[str, ...] = ()
    bought: bool = False


class WebShopWorld:
    """One visit to the shop."""

    def __init__(self, task: Task, rng: np.random.Generator) -> None:
        self._task = task
        self._data = read_webshop()
        self._page = _Page()

    @property
    def closed(self) -> bool:
        """Whether an item was bought."""
        return self._page.bought

    def opening(self) -> str:
        """Show the search page."""
        return self._text()

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Search or click."""
        if name == "search":
            return self._search(arguments["keywords"])
        return self._click(arguments["label"].strip())

    def say(self, text: str) -> str:
        """Parse WebShop's own `search[…]` and `click[…]`; anything else changes nothing."""
        match = _RAW.fullmatch(text)
        try:
            if match is None:
                raise DeskProblem("expected search[keywords] or click[label]")
            if match[1] == "search":
                return self._search(match[2])
            return self._click(match[2].strip())
        except DeskProblem as problem:
            return f"Error: {problem}\n{self._text()}"

    def save(self) -> _Page:
        """Return the page."""
        return self._page

    def load(self, payload: _Page) -> None:
        """Go to a page."""
        self._page = payload

    def final_state(self) -> dict[str, Any]:
        """Return the purchase, with the facts that the rules need."""
        page = self._page
        if not page.bought:
            return {"bought": None, "opened": list(page.opened)}
        product = self._data.products[page.asin]
        bought = {key: value for key, value in product.items() if key != "options"}
        return {
            "bought": {**bought, "chosen": dict(page.chosen)},
            "opened": list(page.opened),
        }

    def _search(self, keywords: str) -> str:
        if self._page.kind != "search":
            raise DeskProblem("there is no search bar here; click 'Back to Search' first")
        found = self._data.index.search(keywords, _HITS)
        hits = tuple(self._data.asins[position] for position in found)
        self._page = self._page._replace(kind="results", hits=hits, number=1)
        return self._text()

    def _click(self, label: str) -> str:
        page, folded = self._page, label.lower()
        labels = {known.lower(): known for known in self._labels()}
        if folded not in labels:
            raise DeskProblem(f"there is nothing to click called {label[:80]!r} here")
        known = labels[folded]
        if folded == "back to search":
            self._page = _Page(opened=page.opened)
        elif folded == "next >":
            self._page = page._replace(number=page.number + 1)
        elif folded == "< prev":
            self._page = self._back()
        elif folded == "buy now":
            self._page = page._replace(bought=True)
            return "Thank you for shopping with us!"
        elif page.kind == "results":
            opened = page.opened if known in page.opened else (*page.opened, known)
            self._page = page._replace(kind="item", asin=known, chosen=(), opened=opened)
        elif folded in _SUBPAGES:
            self._page = page._replace(kind=folded)
        else:
            self._choose(folded)
        return self._text()

    def _back(self) -> _Page:
        page = self._page
        if page.kind == "results":
            return page._replace(number=page.number - 1)
        return page._replace(kind="results" if page.kind == "item" else "item")

    def _choose(self, value: str) -> None:
        options = self._data.products[self._page.asin]["options"]
        name = next(name for name, values in options.items() if value in values)
        chosen = {**dict(self._page.chosen), name: value}
        self._page = self._page._replace(chosen=tuple(chosen.items()))

    def _labels(self) -> list[str]:
        page = self._page
        if page.kind == "search":
            return []
        if page.kind == "results":
            turn = ["< Prev"] if page.number > 1 else []
            if page.number * _PER_PAGE < len(page.hits):
                turn.append("Next >")
            return ["Back to Search", *turn, *self._shown()]
        if page.kind != "item":
            return ["Back to Search", "< Prev"]
        options = self._data.products[page.asin]["options"]
        values = [value for values in options.values() for value in values]
        buttons = ["Description", "Features", "Reviews", "Buy Now"]
        return ["Back to Search", "< Prev", *values, *buttons]

    def _shown(self) -> tuple[str, ...]:
        start = (self._page.number - 1) * _PER_PAGE
        return self._page.hits[start : start + _PER_PAGE]

    def _text(self) -> str:
        page = self._page
        parts = ["WebShop", "Instruction:", self._task.instruction]
        if page.kind == "search":
            return " [SEP] ".join([*parts, "Search"])
        if page.kind == "results":
            parts += ["Back to Search", f"Page {page.number} (Total results: {len(page.hits)})"]
            parts += [label for label in self._labels()[1:] if label in ("< Prev", "Next >")]
            for asin in self._shown():
                product = self._data.products[asin]
                parts += [asin, product["Title"], product["price_tag"]]
            return " [SEP] ".join(parts)
        return " [SEP] ".join([*parts, *self._item_parts()])

    def _item_parts(self) -> list[str]:
        page, product = self._page, self._data.products[self._page.asin]
        parts = ["Back to Search", "< Prev"]
        if page.kind == "description":
            return [*parts, product["Description"]]
        if page.kind == "features":
            return [*parts, *map(str, product["BulletPoints"])]
        if page.kind == "reviews":
            return [*parts, "There are no reviews."]
        chosen = dict(page.chosen)
        for name, values in product["options"].items():
            mark = f" (chosen: {chosen[name]})" if name in chosen else ""
            parts += [f"{name}{mark}", *values]
        title = [product["Title"], f"Price: {product['price_tag']}", "Rating: N.A."]
        return [*parts, *title, "Description", "Features", "Reviews", "Buy Now"]

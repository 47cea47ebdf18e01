"""Look-up of users and items in tau2's retail tables; the base caches the indexes."""

import unicodedata
from collections.abc import Callable
from typing import Any, cast

from hexathlon.tasks.shopping.world.tables import Base, Record, Tables

__all__ = ["DeskProblem", "find_user", "fold", "item_index"]


class DeskProblem(Exception):
    """A call that the desk refuses, with the reason for the agent."""


def find_user(tables: Tables, kind: str, wanted: Any) -> str:
    """Return the id of the user whose current `email` or `name_zip` matches.

    Raises:
        DeskProblem: If there is none.
    """
    key_of = _KEYS[kind]
    for changed_id, user in tables.touched("users"):
        if user is not None and key_of(user) == wanted:
            return changed_id
    index: dict[Any, str] | None = tables.base.indexes.get(kind)
    if index is None:
        users = tables.base.tables["users"]
        index = {key_of(users[user_id]): user_id for user_id in reversed(list(users))}
        tables.base.indexes[kind] = index
    user_id = index.get(wanted)
    found = None if user_id is None else tables.get("users", user_id)
    if user_id is None or found is None or key_of(found) != wanted:
        raise DeskProblem("User not found")
    return user_id


def item_index(base: Base) -> dict[str, str]:
    """Return a mapping from item id to product id."""
    if "items" not in base.indexes:
        base.indexes["items"] = {
            item_id: product_id
            for product_id, product in base.tables["products"].items()
            for item_id in product["variants"]
        }
    return cast("dict[str, str]", base.indexes["items"])


def fold(text: str) -> str:
    """Return the text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.strip())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def _name_zip(user: Record) -> tuple[str, str, str]:
    name = user["name"]
    return fold(name["first_name"]), fold(name["last_name"]), user["address"]["zip"]


def _email(user: Record) -> str:
    return fold(user["email"])


_KEYS: dict[str, Callable[[Record], Any]] = {"name_zip": _name_zip, "email": _email}

"""Sheets by id, names of people, and permissions."""

from collections.abc import Sequence

from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.sites.sheets.book import protection_at, role_in
from hexathlon.tasks.web.world.sites.sheets.formulas import parse_ref
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["names_of", "refusal", "sheet_of"]


def sheet_of(store: SiteStore, number: int) -> StoreRow | None:
    """Return a sheet with the name of its workbook as `book`, or None."""
    return store.row(
        "SELECT s.*, w.name AS book FROM sheets s JOIN workbooks w ON w.id = s.workbook "
        "WHERE s.id = ?",
        (number,),
    )


def names_of(store: SiteStore) -> dict[str, str]:
    """Return the name of everybody, by login."""
    rows = store.rows("SELECT login, name FROM _accounts")
    return {"": "–", **{row["login"]: row["name"] for row in rows}}


def refusal(call: Call, sheet: StoreRow, refs: Sequence[str]) -> str:
    """Return why a person may not change cells; empty if they may."""
    if role_in(call, sheet["workbook"]) == "viewer":
        return call.words("viewer_only", owner=_owner_name(call, sheet["workbook"]))
    for ref in refs:
        place = parse_ref(ref)
        row = place and protection_at(call.store, sheet["id"], place, call.login)
        if row:
            editor = names_of(call.store).get(row["editor"], row["editor"])
            return call.words("is_protected", ref=ref, number=row["id"], editor=editor)
    return ""


def _owner_name(call: Call, workbook: int) -> str:
    owner = call.store.value("SELECT owner FROM workbooks WHERE id = ?", (workbook,))
    return names_of(call.store).get(owner, "–")

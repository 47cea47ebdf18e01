import base64
import gzip
import sqlite3
import zlib
from datetime import date
from typing import Any

import pytest

from hexathlon.evaluators.gui.desktop import desktop_state
from hexathlon.evaluators.gui.documents import KINDS, kind_of, same
from hexathlon.evaluators.gui.formulas import CellFormulaFault, evaluate
from hexathlon.tasks.gui.desktop.documents import Books, Operation, cell_values, workbook
from support.desktops import desktop_task

ROWS = [["Item", "Count"], ["nails", 5], ["rope", 7.5]]


def stored(data: bytes | str) -> dict[str, str]:
    raw = data.encode() if isinstance(data, str) else data
    return {"base64": base64.b64encode(raw).decode()}


def state(files: dict[str, Any], deleted: tuple[str, ...] = (), **report: str) -> dict[str, Any]:
    given = {"status": "complete", "answer": "", "reason": "", "record": "", **report}
    return {"files": files, "deleted": list(deleted), "cut": False, "reports": [given]}


TASK = desktop_task({"a.txt": {"text": "one\n"}, "s.gnumeric": {"text": workbook({"S": ROWS})}})
WANTED: dict[str, Any] = {
    "changed": {"a.txt": {"kind": "text", "content": "one\ntwo"}}, "deleted": [],
    "answer": None, "refusal": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("final", "score", "failed"),
    [
        (state({"a.txt": stored("one\ntwo\n")}), 1.0, set()),
        (state({"a.txt": stored("one\ntwo")}), 1.0, set()),
        (state({"a.txt": stored("one\ntwo\n\n")}), 0.0, {"documents"}),
        (state({}), 0.0, {"documents"}),
        (state({"a.txt": stored("one\ntwo"), "b.txt": stored("")}), 0.0, {"nothing_else"}),
        (state({"a.txt": stored("one\ntwo")}, ("c.txt",)), 0.0, {"nothing_else"}),
        (state({"a.txt": stored("one\ntwo")}, status="infeasible"), 0.0, {"report"}),
        (state({"a.txt": {"folder": True}}), 0.0, {"documents"}),
        (state({"a.txt": stored(b"\xff\xfe")}), 0.0, {"documents"}),
    ],
)
def test_documents_and_nothing_else(final, score, failed):
    verdict = desktop_state(TASK, WANTED, final, ())
    assert verdict.score == score
    assert {name for name, met in verdict.terms.items() if not met} == failed


def test_without_a_report_nothing_counts():
    final = {**state({"a.txt": stored("one\ntwo")}), "reports": []}
    assert desktop_state(TASK, WANTED, final, ()).score == 0.0


def test_a_file_saved_again_with_the_same_content_is_not_a_change():
    again = gzip.compress(workbook({"S": ROWS}).encode())
    other = workbook({"S": [*ROWS, ["tape", 1]]})
    files = {"a.txt": stored("one\ntwo")}
    assert desktop_state(TASK, WANTED, state({**files, "s.gnumeric": stored(again)}), ()).score == 1
    assert desktop_state(TASK, WANTED, state({**files, "s.gnumeric": stored(other)}), ()).score == 0


@pytest.mark.parametrize(
    ("report", "score"),
    [
        ({"status": "infeasible", "reason": "locked", "record": "Ada Moss"}, 1.0),
        ({"status": "infeasible", "reason": "locked", "record": " ada moss. "}, 1.0),
        ({"status": "infeasible", "reason": "locked", "record": ""}, 0.0),
        ({"status": "infeasible", "reason": "other", "record": "Ada Moss"}, 0.0),
        ({"status": "complete"}, 0.0),
    ],
)
def test_refusals_need_reason_and_record(report, score):
    wanted = {**WANTED, "changed": {}, "refusal": {"reason": "locked", "record": "Ada Moss"}}
    assert desktop_state(TASK, wanted, state({}, **report), ()).score == score


@pytest.mark.parametrize(
    ("given", "score"), [("12.30", 1.0), (" 12.30. ", 1.0), ("12.3", 0.0), ("12.30 or 13", 0.0)]
)
def test_answers_are_whole(given, score):
    wanted = {**WANTED, "changed": {}, "answer": ["12.30"]}
    assert desktop_state(TASK, wanted, state({}, answer=given), ()).score == score


def test_workbooks_are_read_with_formulas_as_values():
    data = workbook({"S": [*ROWS, ["Total", "=SUM(B2:B3)"]]}).encode()
    assert KINDS["cells"](data) == {"S": {**cell_values(ROWS), "A4": "Total", "B4": 12.5}}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=SUM(A1:A3)", 6.0), ("=average(a1:a3)", 2.0), ("=A1+A2*A3", 7.0), ("=-A1", -1.0),
        ("=SUM($A$1:A2;A3)", 6.0), ("=(A3-A1)/A2", 1.0), ("=ROUND(A3/A2;1)", 1.5), ("=A2", 2.0),
        ("=COUNT(A1:B3)", 3.0),
    ],
)  # fmt: skip
def test_formulas(formula, value):
    assert evaluate(formula, {"A1": 1.0, "A2": 2.0, "A3": 3.0, "B1": "x"}) == value


@pytest.mark.parametrize(
    "formula", ["=", "=A1/B9", "=A1:A3", "=__import__('os')", "=IF(1,2,3)", "=" + "1+" * 300,
                "=SUM(A1:ZZ999999)", "=1/0", "=AVERAGE(C1:C2)", "='x'"]
)  # fmt: skip
def test_formulas_without_a_value(formula):
    with pytest.raises(CellFormulaFault):
        evaluate(formula, {"A1": 1.0, "A3": 3.0})


def test_books_are_compared_by_names_not_keys():
    entry = Operation(date(2026, 2, 3), -12.3, "Bank", "Baker", "Food", "bread")
    books = Books(["Bank", "Cash"], ["Baker", "Grocer"], ["Food"], [entry])
    turned = Books(["Cash", "Bank"], ["Grocer", "Baker"], ["Food"], [entry])
    read = KINDS["accounts"]
    assert same(read(books.text().encode()), turned.content())
    rounded = books.text().replace("-12.30", "-12.300000000000001")
    assert same(read(rounded.encode()), books.content())
    assert not same(read(books.text().replace("-12.30", "-12.31").encode()), books.content())
    assert not same(read(books.text().replace("bread", "rolls").encode()), books.content())


def test_databases_are_compared_by_rows():
    def database(*rows: tuple[int, str]) -> bytes:
        with sqlite3.connect(":memory:") as made:
            made.execute("CREATE TABLE goods (id INTEGER, name TEXT)")
            made.executemany("INSERT INTO goods VALUES (?, ?)", rows)
            return made.serialize()

    read = KINDS["tables"]
    assert read(database((1, "a"), (2, "b"))) == read(database((2, "b"), (1, "a")))
    assert read(database((1, "a"))) != read(database((1, "b")))


def test_pages_are_compared_without_header_and_date():
    header = "Content-Type: text/x-zim-wiki\nWiki-Format: zim 0.6\n\n"
    new = f"{header}====== Shed ======\nCreated Monday 23 November 2026\n\nladder\n"
    old = f"{header}====== Shed ======\nladder\n\n"
    read = KINDS["page"]
    assert read(new.encode()) == read(old.encode()) == "====== Shed ======\nladder"


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_document_equals_nothing(kind):
    for data in (b"\x1f\x8b broken", b"\xff\xfe\x00", b"<a>", b"<ope date='x'/>"):
        read = KINDS[kind](data)
        assert not same(None, read) or kind == "text"
        assert read is None or kind in ("text", "page", "tables", "accounts", "cells")


def cells_xml(*cells: str, sheets: int = 1) -> bytes:
    inner = "".join(f"<gnm:Cell {cell}</gnm:Cell>" for cell in cells)
    each = "".join(
        f"<gnm:Sheet><gnm:Name>S{number}</gnm:Name><gnm:Cells>{inner}</gnm:Cells></gnm:Sheet>"
        for number in range(sheets)
    )
    root = "gnm:Workbook"
    return f'<{root} xmlns:gnm="http://www.gnumeric.org/v10.dtd">{each}</{root}>'.encode()


def database(*statements: str) -> bytes:
    with sqlite3.connect(":memory:") as made:
        for statement in statements:
            made.execute(statement)
        return made.serialize()


def shared_rows(tables: int) -> bytes:
    """A database whose tables all store their rows in the same place."""
    with sqlite3.connect(":memory:") as made:
        made.execute("CREATE TABLE t (a)")
        made.execute("INSERT INTO t VALUES (?)", ("x" * 100_000,))
        made.execute("PRAGMA writable_schema = ON")
        made.executemany(
            "INSERT INTO sqlite_schema SELECT type, ?1, ?1, rootpage, 'CREATE TABLE ' || ?1 || "
            "' (a)' FROM sqlite_schema WHERE name = 't'",
            [(f"t{number}",) for number in range(tables)],
        )
        made.commit()
        return made.serialize()


def png(width: int, height: int) -> bytes:
    """A picture that claims to have a size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    head = width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\x00"))


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("cells", cells_xml('Row="0" Col="-5">x')),
        ("cells", cells_xml('Row="0" Col="99999999">x')),
        ("cells", cells_xml('Row="0" Col="0" ValueType="40">1e999',
                            'Row="1" Col="0">=ROUND(1,A1)')),
        ("cells", cells_xml(*(f'Row="{row}" Col="30">=SUM(A1:T999)' for row in range(501)))),
        ("cells", cells_xml(*(f'Row="{row}" Col="30">=1' for row in range(26)), sheets=20)),
        ("cells", cells_xml('Row="0" Col="30">=SUM(A1:T999)+SUM(A1:T999)')),
        ("image", png(60_000, 60_000)),
        ("image", png(9_000, 9_000)),
        ("tables", database("CREATE TABLE t (a, b AS (zeroblob(900000000)))",
                            "INSERT INTO t VALUES (1)")),
        ("tables", shared_rows(100)),
    ],
    ids=("left of a sheet", "far right", "no number", "formulas", "formulas of many sheets",
         "ranges", "huge", "large", "computed", "shared"),
)  # fmt: skip
def test_documents_made_to_break_the_reader_equal_nothing(kind, data):
    assert KINDS[kind](data) is None


def test_tables_that_share_a_few_rows_are_read():
    assert len(KINDS["tables"](shared_rows(10))) == 11


def test_an_empty_file_is_a_database_without_tables():
    assert KINDS["tables"](b"") == {}


def test_kinds_by_name():
    assert [kind_of(name) for name in ("a.gnumeric", "b.XHB", "c.png", "d.db", "e.txt")] == [
        "cells", "accounts", "image", "tables", "text",
    ]  # fmt: skip

import pytest

from hexathlon.tasks.web.templates import (
    sheets,
    sheets_files,
    sheets_orders,
    sheets_requests,
    sheets_rules,
    sheets_undo,
)
from hexathlon.tasks.web.templates.sheet_pages import set_cell, set_row
from hexathlon.tasks.web.world.sites.sheets.formulas import Evaluator, parse_ref
from hexathlon.tasks.web.world.sites.sheets.functions import shown
from support.web_pages import check_scripts, screens, task_ids
from support.web_visit import Visit

MODULES = (sheets, sheets_files, sheets_orders, sheets_requests, sheets_rules, sheets_undo)
TEMPLATES = [template for module in MODULES for template in module.TEMPLATES]

PAGES = (
    "/workbooks?archived=1", "/workbooks/1", "/sheets/1", "/sheets/1?col=3&op=%3E&value=5000&sort=4",
    "/sheets/1?formulas=1", "/sheets/1/cells/G2?formula=%3DSUM(C2:D4)", "/sheets/1/rows/3",
    "/sheets/1/rows/new", "/sheets/1/comments?state=all", "/sheets/1/protected", "/sheets/1/history",
    "/versions/1", "/sheets/1/charts", "/sheets/1/import", "/dashboards", "/dashboards/1",
    "/functions", "/sheets/999",
)  # fmt: skip


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("sheets", PAGES).items():
        assert text.strip(), where


@pytest.mark.parametrize(
    ("template", "level"),
    [(template.name, level) for template in TEMPLATES for level in template.levels],
)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)


@pytest.fixture
def pages():
    visit = Visit("sheets")
    yield visit
    visit.network.close()


def value_of(formula: str, **cells: str) -> str:
    places = {parse_ref(ref): raw for ref, raw in cells.items()}
    evaluator = Evaluator({"own": 1, "other one": 2}, lambda sheet: places if sheet == 1 else {})
    return shown(evaluator.formula(1, formula))


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=1+2*3^2", "19"), ("=-2^2", "4"), ("=(1+2)*3%", "0.09"), ("=SUM(A1:B2)", "10"),
        ("=SUM(A:A)", "4"), ("=AVERAGE(A1:A2)", "2"), ("=MIN(A1:B2)&MAX(A1:B2)", "14"),
        ('=COUNTIF(A1:B2,">1")', "3"), ('=SUMIF(A1:A2,">=3",B1:B2)', "4"),
        ('=SUMIFS(B1:B2,A1:A2,">0",B1:B2,"<4")', "2"), ("=VLOOKUP(3,A1:B2,2)", "4"),
        ('=IF(A1>0,"yes","no")', "yes"), ("=IFERROR(1/0,7)", "7"), ("=ROUND(2.345,2)", "2.35"),
        ("=own!A1+$B$2", "5"), ("='other one'!A1", ""), ("=1/0", "#DIV/0!"), ("=missing!A1", "#REF!"),
        ("=NOPE(1)", "#NAME?"), ("=1+", "#ERROR!"), ('="a"+1', "#VALUE!"), ("=9^9^9^9", "#NUM!"),
        ("=VLOOKUP(8,A1:B2,2)", "#N/A"), ("=VLOOKUP(A1:A2,A1:B2,2)", "#VALUE!"),
        ("=" + "(" * 200 + "1" + ")" * 200, "#ERROR!"),
    ],
)  # fmt: skip
def test_formulas(formula, value):
    assert value_of(formula, A1="1", B1="2", A2="3", B2="4") == value


def test_a_cell_that_depends_on_itself_shows_it():
    assert value_of("=A1", A1="=B1+1", B1="=A1*2") == "#CYCLE!"
    assert value_of("=SUM(A1:A3)", A1="1", A2="=SUM(A1:A3)", A3="2") == "#CYCLE!"


def test_texts_are_left_out_of_sums():
    assert value_of("=SUM(A1:A4)", A1="5", A2="1,200", A3="'7", A4="30 EUR") == "5"


def test_a_protected_cell_keeps_its_content(pages):
    screen = pages.play(set_cell(pages.pilot, 1, "G2", "5"))
    assert "G2 is protected by PR-1" in screen
    cells = pages.value("SELECT raw FROM cells WHERE id = '1!G2'")
    assert cells == "=SUM(C2:F2)"


def test_a_row_is_changed_as_a_whole_or_not_at_all(pages):
    before = pages.value("SELECT raw FROM cells WHERE id = '1!C3'")
    pages.play(set_row(pages.pilot, 1, 3, {"C3": "1", "G3": "2"}))
    assert pages.value("SELECT raw FROM cells WHERE id = '1!C3'") == before


def test_viewers_cannot_write(pages):
    sheet = pages.value("SELECT id FROM sheets WHERE name = 'Orders'")
    screen = pages.play(set_cell(pages.pilot, sheet, "B2", "x"))
    assert "You may only view this workbook" in screen


def test_a_version_can_be_restored(pages):
    before = pages.value("SELECT raw FROM cells WHERE id = '1!C2'")
    pages.play(set_cell(pages.pilot, 1, "C2", "1"))
    number = pages.value("SELECT max(id) FROM _versions")
    pages.play(pages.pilot.goto("sheets", f"/versions/{number}"))
    for _ in range(2):
        pages.play(pages.pilot.click("button", pages.pilot.words("sheets", "restore")))
    assert pages.value("SELECT raw FROM cells WHERE id = '1!C2'") == before


def test_export_and_filter(pages):
    pages.play(pages.pilot.goto("sheets", "/sheets/1/export?col=3&op=%3E%3D&value=9000"))
    lines = next(iter(pages.network.files.values())).decode().splitlines()
    assert lines[0] == "Team,Cost centre,Q1,Q2,Q3,Q4,Total"
    figures = [float(line.split(",")[2]) for line in lines[1:]]
    assert figures and min(figures) >= 9000

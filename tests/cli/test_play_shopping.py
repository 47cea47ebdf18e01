"""Input typed into `hexathlon play`, text folding, and a whole game of shopping."""

import doctest
import json
from collections.abc import Iterator

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.registry import get_source
from hexathlon_cli.app import run
from hexathlon_cli.playing import calls
from hexathlon_cli.playing.calls import ReadingProblem, listed_in, read_line, signature
from hexathlon_cli.playing.session import Session
from hexathlon_cli.playing.text import aligned, wrapped
from support.shop import cached_in, shared_folder

SOURCE = get_source("shopping")


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with cached_in(shared_folder(tmp_path_factory)):
        yield


def tools_of(task_id: str) -> list[dict[str, object]]:
    return [tool.model_dump() for tool in SOURCE.build(task_id).tools]


@pytest.fixture(scope="module")
def tools() -> list[dict[str, object]]:
    """The tools of a purchase in dialogue and of a case at the desk."""
    names = ("dialogue_ask", "dialogue_cancel")
    found = {}
    for name in names:
        index = next(i for i in range(98) if f"/{name}/" in SOURCE.address("dev", i, "tiny"))
        for tool in tools_of(SOURCE.address("dev", index, "tiny")):
            found[tool["name"]] = tool
    return list(found.values())


@pytest.mark.parametrize(
    ("line", "name", "arguments"),
    [
        ("search dome tent for two", "search", {"query": "dome tent for two"}),
        (
            "search tent page=2 filters=brand=Aro price_max=50",
            "search",
            {"query": "tent", "page": 2, "filters": {"brand": "Aro", "price_max": 50}},
        ),
        ("open #2", "open_item", {"item": "P2"}),
        ("spec P1", "read_specification", {"item": "P1"}),
        ("choose #1 red, size 45", "choose_options", {"item": "P1", "options": "red, size 45"}),
        (
            "add P1 colour=red quantity=2",
            "add_to_cart",
            {"item": "P1", "options": {"colour": "red"}, "quantity": 2},
        ),
        ("compare #1 #2", "compare", {"items": ["P1", "P2"]}),
        ("checkout", "checkout", {}),
        ("ask which colour?", "ask_user", {"question": "which colour?"}),
        (
            "return_items O1 1,2 card-1",
            "return_items",
            {"order": "O1", "lines": ["1", "2"], "refund_to": "card-1"},
        ),
        (
            "change_address O1 1 Mill Lane, Ashby, 12345",
            "change_address",
            {"order": "O1", "street": "1 Mill Lane", "city": "Ashby", "postcode": "12345"},
        ),
        (
            "propose return_items O1 1 card-1",
            "propose",
            {
                "action": "return_items",
                "arguments": {"order": "O1", "lines": ["1"], "refund_to": "card-1"},
            },
        ),
        (
            "report out_of_stock P1-02 3",
            "report_impossible",
            {"reason": "out_of_stock", "record": "P1-02", "paragraph": 3},
        ),
    ],
)
def test_short_lines_are_calls(tools, line, name, arguments):
    action = json.loads(read_line(line, tools, {"1": "P1", "2": "P2"}))
    assert action == {"name": name, "arguments": arguments}


@pytest.mark.parametrize("line", ["hello, what can I do for you?", "I see", '{"name": "search"}'])
def test_prose_and_json_are_passed_on_as_typed(tools, line):
    assert read_line(line, tools, {}) == line


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("cart", "could be add_to_cart"),
        ("open", "Still missing: item"),
        ("open #3", "no #3"),
        ("view_cart now", "more than"),
    ],
)
def test_invalid_calls_are_explained(tools, line, problem):
    with pytest.raises(ReadingProblem, match=problem):
        read_line(line, tools, {"1": "P1"})


def test_every_tool_has_a_line_of_its_own(tools):
    assert "search QUERY [CATEGORY]" in " ".join(signature(tool) for tool in tools)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("  one two three", ["  one two", "  three"]),
        ("一二三四五六", ["一二三四五", "六"]),
        ("★★ 好 words and", ["★★ 好", "words and"]),
        ("一二三四五。六", ["一二三四", "五。六"]),
        ("short", ["short"]),
    ],
)
def test_lines_are_folded_at_the_width(text, rows):
    assert wrapped(text, 10).split("\n") == rows


def test_cells_of_a_column_are_aligned():
    assert aligned("a  |  b\n颜色  |  c  \nplain") == "a     |  b\n颜色  |  c  \nplain"


def test_plain_words_help_and_leave(monkeypatch, capsys):
    out = played_by(["help", "?", "quit"], SOURCE.address("dev", 0, "tiny"), monkeypatch, capsys)
    assert out.count("/undo") == 2 and "Nobody" not in out


def test_items_of_lists_without_numbers_are_chosen_by_position(monkeypatch, capsys):
    template = "same_as_last"
    index = next(i for i in range(98) if f"/{template}/" in SOURCE.address("dev", i, "tiny"))
    out = played_by(["order_history", "view_order #1", "/quit"],
                    SOURCE.address("dev", index, "tiny"), monkeypatch, capsys)  # fmt: skip
    first = next(iter(listed_in(out[out.rindex("days ago") - 400 :]).values()))
    assert out.count(first) >= 2


@pytest.mark.parametrize(("language", "word"), [("en", " the "), ("zh", "请")])
def test_templates_and_languages_are_chosen(language, word, monkeypatch, capsys):
    monkeypatch.setattr("builtins.input", lambda _: "/quit")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8" if language == "zh" else "C")
    assert run(["play", "shopping", "--level", "tiny", "--template", "coup", "--seed", "4"]) == 0
    out = capsys.readouterr().out
    opening = out.partition("Task shopping/")[2]
    assert word in opening.split("\n\n")[1]


def test_an_unknown_template_is_named(capsys):
    assert run(["play", "shopping", "--template", "nothing"]) == 1
    assert "no task with a template 'nothing'" in capsys.readouterr().err


def played_by(lines: list[str], task_id: str, monkeypatch, capsys) -> str:
    typed = iter(lines)
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    monkeypatch.setenv("COLUMNS", "80")
    world = ShoppingEnv()
    opening, details = world.reset(seed=0, options={"task": task_id})
    assert not Session(world, details).play()
    return capsys.readouterr().out


def test_a_purchase_is_played_to_its_end_in_eighty_columns(monkeypatch, capsys):
    task = SOURCE.build(SOURCE.address("dev", 0, "tiny"))
    product, variant, _ = task.checks[0].params["plan"]["lines"][0]
    lines = ["search tea", "open #1", "/undo", f"spec {product}", f"add {variant}", "checkout"]
    out = played_by(lines, task.id, monkeypatch, capsys)
    assert "The last turn is undone" in out and "Right: everything" in out
    assert listed_in(out).keys() >= {str(number) for number in range(1, 11)}
    assert max(map(len, out.splitlines())) < 80


def test_a_wrong_purchase_is_explained(monkeypatch, capsys):
    task = SOURCE.build(SOURCE.address("dev", 0, "tiny"))
    variant = task.checks[0].params["plan"]["near"][0][3]
    lines = ["add P0000000", "/help add", f"add {variant}", "checkout"]
    out = played_by(lines, task.id, monkeypatch, capsys)
    assert "Not right." in out and "The item was bought without opening its page." in out


def test_examples_in_the_docstrings_hold():
    assert doctest.testmod(calls).failed == 0

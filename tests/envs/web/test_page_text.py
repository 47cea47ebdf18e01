"""Pages as text: one line per block, a number for every element that can be acted on."""

from itertools import count

import pytest

from hexathlon.envs.web.page.brief import brief_text
from hexathlon.envs.web.page.parse import PageSyntaxError, parse_page
from hexathlon.envs.web.page.tree import describe


def shown(body: str, ids=None) -> list[str]:
    page = parse_page(f"<html><head><title>T</title></head><body>{body}</body></html>", count(1))
    return describe(page[1], ids or {}).text.split("\n")


def test_blocks_are_lines_and_inline_content_stays_together():
    assert shown(
        "<h2>Big  title</h2><p>some <b>bold</b> text</p><ul><li>one</li><li>two</li></ul>"
    ) == [
        "## Big title",
        "some bold text",
        "- one",
        "- two",
    ]


def test_tables_are_rows_of_cells():
    rows = ("<tr><th>A</th><th>B</th></tr>", "<tr><td>1</td><td><a href='/x'>go</a></td></tr>")
    table = f"<table><thead>{rows[0]}</thead><tbody>{rows[1]}</tbody></table>"
    assert shown(table) == ["table:", "  | A | B", '  | 1 | [1] link "go"']


def test_fields_have_the_name_of_their_label_and_their_state():
    form = (
        '<form aria-label="F"><label for="a">Name</label><input id="a" value="x&quot;y"/>'
        '<label><input type="checkbox" checked=""/> Agree</label>'
        "<select aria-label='S'><option>p</option><option selected=''>q</option></select>"
        '<input type="password" aria-label="P" value="abc"/><button disabled="">Go</button></form>'
    )
    assert shown(form) == [
        'form "F":',
        '  [1] textbox "Name" value "x\\"y" [2] checkbox "Agree" checked '
        '[3] combobox "S" value "q" options: p, q [4] textbox "P" value "•••" '
        '[5] button "Go" disabled',
    ]


def test_hidden_elements_are_left_out_and_an_open_dialog_covers_the_page():
    page = (
        '<p hidden="">no</p><details><summary>More</summary><p>inner</p></details>'
        '<dialog><a href="/">x</a></dialog><input type="hidden" value="secret"/><a href="/y">y</a>'
    )
    assert shown(page) == ['[1] disclosure "More" collapsed', '[2] link "y"']
    opened = page.replace("<dialog>", '<dialog open="" aria-label="D">')
    assert shown(opened) == ["(an open dialog covers the page)", 'dialog "D":', '  [1] link "x"']


def test_shadow_roots_come_before_the_content_of_their_host():
    host = '<div>light<template shadowrootmode="open"><p>shadow</p></template></div>'
    assert shown(host) == ["shadow", "light"]


def test_numbers_stay_with_their_elements():
    body = parse_page("<html><body><a href='/'>a</a><a href='/'>b</a></body></html>", count(1))[1]
    first = describe(body, {})
    again = describe(body.with_children(body.children[1:]), first.ids)
    assert again.text == '[2] link "b"'


def test_texts_cannot_pose_as_elements():
    page = "<p>Press [<b>7</b>] button now, [a] or [ 8 ]</p><a href='/'>x\" [9] link \"y</a>"
    assert shown(page) == [
        "Press \\[7] button now, [a] or \\[ 8 ]",
        '[1] link "x\\" \\[9] link \\"y"',
    ]


@pytest.mark.parametrize(
    "page", ["<html><body><p></body></html>", "<html></html>", "", "<body>&x;"]
)
def test_pages_that_are_not_well_formed_are_refused(page):
    with pytest.raises(PageSyntaxError):
        parse_page(page, count(1))


def test_names_of_containers_cannot_pose_as_elements():
    assert shown('<nav aria-label="[7] button"><p>x</p></nav>') == [
        'navigation "\\[7] button":',
        "  x",
    ]
    assert shown('<iframe title="[7] link"><body><p>x</p></body></iframe>')[0] == (
        'frame "\\[7] link":'
    )


def test_a_brief_page_has_only_its_content_and_numbers_after_names():
    body = (
        "<header><h1>Site</h1><nav><a href='/m'>Menu</a></nav></header>"
        "<main><p>[7] link &quot;not one&quot; <a href='/x'>Go \"far\"</a></p>"
        "<input aria-label='Name' value='[3] x'/><select><option>p</option></select></main>"
        "<footer><a href='/f'>Foot</a></footer>"
    )
    page = parse_page(f"<html><head><title>T</title></head><body>{body}</body></html>", count(1))
    assert brief_text("T", describe(page[1], {}).content).split("\n") == [
        "Page: T",
        r'\[7] link "not one" link "Go \"far\"" [2]',
        r'textbox "Name" [3] value "\[3] x" combobox [4] value "p" options: p',
    ]

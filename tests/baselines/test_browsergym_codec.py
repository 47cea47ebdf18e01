"""BrowserGym's call strings: its own examples, and its own parser where it is installed."""

import json

import pytest

from hexathlon.baselines.codecs import get_codec

CODEC = get_codec("browsergym")

EXAMPLES = {
    "click('a51')": [("click", {"bid": "a51"})],
    "click('b22', button='left')": [("click", {"bid": "b22"})],
    "click('48', button='middle', modifiers=['Shift'])": [
        ("click", {"bid": "48", "button": "middle", "modifiers": ["Shift"]})
    ],
    "dblclick('12')": [("dblclick", {"bid": "12"})],
    "hover('b8')": [("hover", {"bid": "b8"})],
    "fill('237', 'example value')": [("fill", {"bid": "237", "text": "example value"})],
    "fill('45', \"two\\nlines\")": [("fill", {"bid": "45", "text": "two\nlines"})],
    "fill('a12', \"example with \\\"quotes\\\"\")": [
        ("fill", {"bid": "a12", "text": 'example with "quotes"'})
    ],
    "fill(\"7\", \"审核\")": [("fill", {"bid": "7", "text": "审核"})],
    "select_option('a48', 'blue')": [("select_option", {"bid": "a48", "options": "blue"})],
    "select_option('c48', ['red', 'green', 'blue'])": [
        ("select_option", {"bid": "c48", "options": ["red", "green", "blue"]})
    ],
    "press('88', 'Backspace')": [("press", {"bid": "88", "key_comb": "Backspace"})],
    "press('a26', 'ControlOrMeta+a')": [("press", {"bid": "a26", "key_comb": "ControlOrMeta+a"})],
    "focus('b455')": [("focus", {"bid": "b455"})],
    "clear('996')": [("clear", {"bid": "996"})],
    "drag_and_drop('56', '498')": [("drag_and_drop", {"from_bid": "56", "to_bid": "498"})],
    "scroll(0, 200)": [("scroll", {"delta_x": 0, "delta_y": 200})],
    "scroll(-50.2, -100.5)": [("scroll", {"delta_x": -50.2, "delta_y": -100.5})],
    "mouse_click(887, 68)": [("mouse_click", {"x": 887, "y": 68})],
    "mouse_click(56, 712, 'right')": [("mouse_click", {"x": 56, "y": 712, "button": "right"})],
    "mouse_drag_and_drop(10.7, 325, 235.6, 24.54)": [
        ("mouse_drag_and_drop", {"from_x": 10.7, "from_y": 325, "to_x": 235.6, "to_y": 24.54})
    ],
    "keyboard_press('Backspace')": [("keyboard_press", {"key": "Backspace"})],
    "keyboard_type('Hello world!')": [("keyboard_type", {"text": "Hello world!"})],
    "keyboard_insert_text('Hello')": [("keyboard_insert_text", {"text": "Hello"})],
    "goto('http://www.example.com')": [("goto", {"url": "http://www.example.com"})],
    "go_back()": [("go_back", {})],
    "new_tab()": [("new_tab", {})],
    "tab_focus(2)": [("tab_focus", {"index": 2})],
    "noop()": [("noop", {})],
    "noop(500)": [("noop", {"wait_ms": 500})],
    "send_msg_to_user(\"Based on the results, it is 'done'.\")": [
        ("send_msg_to_user", {"text": "Based on the results, it is 'done'."})
    ],
    "click(bid='12')\nfill(bid='3', value='x')  # and so on\n\ngo_back()": [
        ("click", {"bid": "12"}), ("fill", {"bid": "3", "text": "x"}), ("go_back", {}),
    ],
    "```\nclick('1')\n```": [("click", {"bid": "1"})],
    "```python\nclick('1')\nnoop()```": [("click", {"bid": "1"}), ("noop", {})],
    "<think>Click it.</think>\nclick('1')": [("click", {"bid": "1"})],
    "finish(task_type='RETRIEVE', retrieved_data=[1, 'a', None, True])": [
        ("finish", {"task_type": "RETRIEVE", "retrieved_data": [1, "a", None, True]})
    ],
}  # fmt: skip

PROSE = (
    "I click the button.", "click('1'", "click", "click(x)", "click('1', '2', [], 4, 5)",
    "click('1', bid='1')", "os.system('ls')", "__import__('os').system('ls')", "click(*['1'])",
    "click(**{'bid': '1'})", "click('1') + 1", "x = click('1')", "for i in []: click('1')",
    "click(1 if True else 2)", "click(open('/etc/passwd').read())", "fill('1', f'{1}')",
    "Now:\nclick('1')", "noop({1, 2})", "noop(b'1')", "(" * 5000, "click('1'); x", "",
)  # fmt: skip


def decoded(text: str) -> str:
    return CODEC.decode({"role": "assistant", "content": text})


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples(text):
    rows = [{"name": name, "arguments": given} for name, given in EXAMPLES[text]]
    assert json.loads(decoded(text)) == (rows[0] if len(rows) == 1 else rows)


@pytest.mark.parametrize("text", PROSE)
def test_other_text_stays_prose_and_is_never_run(text):
    assert decoded(text) == text


@pytest.mark.parametrize("text", EXAMPLES)
def test_encoded_calls_decode_unchanged(text):
    action = decoded(text)
    written = CODEC.encode(action)["content"]
    assert decoded(written) == action


def test_the_prompt_names_parameters_as_browsergym_does():
    from hexathlon.tasks.web.tools import WEB_TOOLS

    tools = [tool.model_dump() for tool in WEB_TOOLS]
    prompt = CODEC.system_prompt("You browse.", tools)
    assert "- fill(bid, value): " in prompt
    assert "- scroll(delta_x=None, delta_y=None): " in prompt


def test_browsergyms_own_parser_reads_encoded_calls():
    """Compared with the parser of browsergym-core, where that is installed."""
    parsers = pytest.importorskip("browsergym.core.action.parsers", reason="no browsergym-core")
    for text in EXAMPLES:
        action = decoded(text)
        written = CODEC.encode(action)["content"]
        rows = json.loads(action)
        rows = rows if isinstance(rows, list) else [rows]
        read = parsers.highlevel_action_parser.parse_string(written, parse_all=True)
        assert [each[0] for each in read] == [row["name"] for row in rows]

"""The dialects of GUI models: their own forms, their coordinate spaces, their mistakes."""

import asyncio
import json

import pytest

from hexathlon.baselines.agents.base import Episode, PastTurn
from hexathlon.baselines.agents.llm import LlmAgent
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.codecs.base import fitted
from hexathlon.baselines.codecs.gui.screen import smart_resize
from hexathlon.baselines.codecs.parts import seeing
from hexathlon.baselines.engines.base import ChatReply, Usage
from hexathlon.envs.messages import make_message, parse_text
from hexathlon.envs.tools import ToolTable
from hexathlon.evaluators.content import Image, Text
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.task import ToolSchema


def tool(name, required=(), **properties):
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSchema(name=name, description=f"Tool {name}.", parameters=parameters)


TEXT = {"type": "string"}


def points(width, height):
    x, y = ({"type": "integer", "minimum": 0, "maximum": size - 1} for size in (width, height))
    return {"index": {"type": "integer"}, "x": x, "y": y}


def phone(width=1080, height=2400):
    place = points(width, height)
    ends = {"to_x": place["x"], "to_y": place["y"]}
    way = {"type": "string", "enum": ["up", "down", "left", "right"]}
    return [
        tool("click", **place), tool("double_tap", **place), tool("long_press", **place),
        tool("input_text", ["text"], text=TEXT, clear_text={"type": "boolean"}, **place),
        tool("keyboard_enter"),
        tool("navigate_back"), tool("navigate_home"), tool("open_app", ["app_name"], app_name=TEXT),
        tool("scroll", ["direction"], direction=way, **place),
        tool("swipe", direction=way, **place, **ends), tool("wait"),
        tool("answer", ["text"], text=TEXT),
        tool("status", ["goal_status"], goal_status=TEXT, reason=TEXT, record=TEXT),
    ]  # fmt: skip


def desktop(width=1280, height=720):
    place = points(width, height)
    ends = {"to_x": place["x"], "to_y": place["y"]}
    return [
        tool("click", **place), tool("double_click", **place), tool("right_click", **place),
        tool("move", ["x", "y"], **place), tool("drag", **place, **ends),
        tool("type_text", ["text"], text=TEXT), tool("press_keys", ["keys"], keys=TEXT),
        tool("scroll", ["direction"], direction=TEXT, **place), tool("wait"),
        tool("open_app", ["app_name"], app_name=TEXT), tool("answer", ["text"], text=TEXT),
        tool("status", ["goal_status"], goal_status=TEXT),
    ]  # fmt: skip


def codec_for(name, tools):
    return fitted(get_codec(name), [each.model_dump() for each in tools])


def calls_of(codec, text):
    read = parse_text(codec.decode({"role": "assistant", "content": text}))
    return [(call.name, call.arguments) for call in read.calls]


def use(function, **arguments):
    call = json.dumps({"name": function, "arguments": arguments})
    return f"Action: As planned.\n<tool_call>\n{call}\n</tool_call>"


COMPLETE = ("status", {"goal_status": "complete"})
INFEASIBLE = ("status", {"goal_status": "infeasible"})
ENTER = ("keyboard_enter", {})

ANDROID_WORLD = {
    'Reason: The list is below.\nAction: {"action_type": "scroll", "direction": "down"}': [
        ("scroll", {"direction": "down"})
    ],
    'Action: {"action_type": "click", "index": "7"}': [("click", {"index": 7})],
    'Action: {"action_type": "click", "x": 512, "y": 90, "index": null}': [
        ("click", {"x": 512, "y": 90})
    ],
    '{"action_type": "input_text", "text": "12:30", "index": 4, "clear_text": true}': [
        ("input_text", {"text": "12:30", "index": 4, "clear_text": True})
    ],
    'Reason: I add {1}.\nAction:\n```json\n{"action_type": "answer", "text": 42}\n```': [
        ("answer", {"text": "42"})
    ],
    'Action: {"action_type": "status", "goal_status": "infeasible"}': [INFEASIBLE],
    'Action: {"action_type": "open_app", "app_name": "设置"}': [("open_app", {"app_name": "设置"})],
    "<think>Back.</think>\nAction: {\"action_type\": \"navigate_back\"}": [("navigate_back", {})],
}  # fmt: skip

UI_TARS = {
    "Thought: Tap it.\nAction: click(start_box='(500,250)')": [("click", {"x": 540, "y": 600})],
    "Action: click(start_box='<|box_start|>(500,250)<|box_end|>')": [
        ("click", {"x": 540, "y": 600})
    ],
    "Action: click(point='<point>500 250</point>')": [("click", {"x": 540, "y": 600})],
    "Action: click(start_box='[400, 200, 600, 300]')": [("click", {"x": 540, "y": 600})],
    "Action: click(start_box='(1000,1000)')": [("click", {"x": 1079, "y": 2399})],
    "Action: left_double(start_box='(0,0)')": [("double_tap", {"x": 0, "y": 0})],
    "Action: long_press(start_box='(100,100)')": [("long_press", {"x": 108, "y": 240})],
    "Action: drag(start_box='(500,750)', end_box='(500,250)')": [
        ("swipe", {"x": 540, "y": 1800, "to_x": 540, "to_y": 600})
    ],
    "Action: drag(start_point='<point>500 750</point>', end_point='<point>500 250</point>')": [
        ("swipe", {"x": 540, "y": 1800, "to_x": 540, "to_y": 600})
    ],
    "Action: scroll(start_box='(500,500)', direction='down')": [
        ("scroll", {"direction": "down", "x": 540, "y": 1200})
    ],
    "Action: type(content='milk')": [("input_text", {"text": "milk"})],
    "Action: type(content='milk\\n')": [("input_text", {"text": "milk"}), ENTER],
    "Action: type(content='It\\'s \"late\"')": [("input_text", {"text": "It's \"late\""})],
    "Action: type(content='It's late')": [("input_text", {"text": "It's late"})],
    "Action: type(content='one\ntwo')": [("input_text", {"text": "one\ntwo"})],
    "Action: type(content='C:\\\\new')": [("input_text", {"text": "C:\\new"})],
    "Action: hotkey(key='enter')": [ENTER],
    "Action: press_back()": [("navigate_back", {})],
    "Action: press_home()": [("navigate_home", {})],
    "Action: open_app(app_name='Contacts')": [("open_app", {"app_name": "Contacts"})],
    "Action: wait()": [("wait", {})],
    "Action: finished()": [COMPLETE],
    "Action: finished(content='3 pm')": [("answer", {"text": "3 pm"}), COMPLETE],
    "Action: call_user()": [INFEASIBLE],
    "Thought: First, the\nAction: of tapping.\nAction: click(start_box='(0,500)')\n\n"
    "type(content='a(b)')": [("click", {"x": 0, "y": 1200}), ("input_text", {"text": "a(b)"})],
}  # fmt: skip

UI_TARS_DESKTOP = {
    "Action: click(start_box='(500,500)')": [("click", {"x": 640, "y": 360})],
    "Action: left_double(start_box='(500,500)')": [("double_click", {"x": 640, "y": 360})],
    "Action: right_single(start_box='(500,500)')": [("right_click", {"x": 640, "y": 360})],
    "Action: drag(start_box='(0,0)', end_box='(500,500)')": [
        ("drag", {"x": 0, "y": 0, "to_x": 640, "to_y": 360})
    ],
    "Action: hotkey(key='ctrl shift s')": [("press_keys", {"keys": "ctrl+shift+s"})],
    "Action: hotkey(key='arrowdown')": [("press_keys", {"keys": "down"})],
    "Action: type(content='total\\n')": [
        ("type_text", {"text": "total"}), ("press_keys", {"keys": "enter"})
    ],
}  # fmt: skip

MOBILE_USE = {
    use("mobile_use", action="click", coordinate=[500, 250]): [("click", {"x": 540, "y": 600})],
    use("mobile_use", action="click", coordinate=[499.6, 250.2]): [("click", {"x": 540, "y": 600})],
    use("mobile_use", action="long_press", coordinate=[0, 0], time=2): [
        ("long_press", {"x": 0, "y": 0})
    ],
    use("mobile_use", action="swipe", coordinate=[500, 750], coordinate2=[500, 250]): [
        ("swipe", {"x": 540, "y": 1800, "to_x": 540, "to_y": 600})
    ],
    use("mobile_use", action="type", text="a <b> \"c\""): [("input_text", {"text": "a <b> \"c\""})],
    use("mobile_use", action="system_button", button="Back"): [("navigate_back", {})],
    use("mobile_use", action="system_button", button="Enter"): [ENTER],
    use("mobile_use", action="open", text="Clock"): [("open_app", {"app_name": "Clock"})],
    use("mobile_use", action="wait", time=3): [("wait", {})],
    use("mobile_use", action="answer", text="7"): [("answer", {"text": "7"})],
    use("mobile_use", action="terminate", status="success"): [COMPLETE],
    use("mobile_use", action="terminate", status="failure"): [INFEASIBLE],
    use("double_tap", index=3): [("double_tap", {"index": 3})],
    "<thinking>\n<tool_call> comes next\n</thinking>\n"
    + use("mobile_use", action="click", coordinate=[1000, 0])
    + "\n<conclusion>Done.</conclusion>": [("click", {"x": 1079, "y": 0})],
}  # fmt: skip

COMPUTER_USE = {
    use("computer_use", action="left_click", coordinate=[500, 500]): [
        ("click", {"x": 640, "y": 360})
    ],
    use("computer_use", action="double_click", coordinate=[500, 500]): [
        ("double_click", {"x": 640, "y": 360})
    ],
    use("computer_use", action="key", keys=["ctrl", "s"]): [("press_keys", {"keys": "ctrl+s"})],
    use("computer_use", action="type", text="=A1"): [("type_text", {"text": "=A1"})],
    use("computer_use", action="scroll", pixels=-300): [("scroll", {"direction": "down"})],
    use("computer_use", action="scroll", pixels=5, coordinate=[0, 0]): [
        ("scroll", {"direction": "up", "x": 0, "y": 0})
    ],
    use("computer_use", action="hscroll", pixels=5): [("scroll", {"direction": "right"})],
    use("computer_use", action="mouse_move", coordinate=[0, 500]): [("move", {"x": 0, "y": 360})],
    use("computer_use", action="mouse_move", coordinate=[0, 0])
    + use("computer_use", action="left_click_drag", coordinate=[500, 500]): [
        ("drag", {"x": 0, "y": 0, "to_x": 640, "to_y": 360})
    ],
    use("computer_use", action="terminate", status="success"): [COMPLETE],
}  # fmt: skip

EXAMPLES = [
    *[("android-world", phone, text, calls) for text, calls in ANDROID_WORLD.items()],
    *[("ui-tars", phone, text, calls) for text, calls in UI_TARS.items()],
    *[("ui-tars", desktop, text, calls) for text, calls in UI_TARS_DESKTOP.items()],
    *[("gui-owl-1.5", phone, text, calls) for text, calls in MOBILE_USE.items()],
    *[("gui-owl-1.5-computer", desktop, text, calls) for text, calls in COMPUTER_USE.items()],
]


@pytest.mark.parametrize(("name", "tools", "text", "calls"), EXAMPLES)
def test_replies_become_calls_that_the_tools_accept(name, tools, text, calls):
    codec = codec_for(name, tools())
    assert calls_of(codec, text) == calls
    table = ToolTable(tools())
    read = parse_text(codec.decode({"content": text}))
    problems = [table.problem(call) for call in read.calls]
    assert problems == [""] * len(calls)


@pytest.mark.parametrize(("name", "tools", "text", "calls"), EXAMPLES)
def test_encoded_calls_decode_unchanged(name, tools, text, calls):
    codec = codec_for(name, tools())
    action = codec.decode({"content": text})
    written = codec.encode(action)["content"]
    again = calls_of(codec, written)
    assert [name for name, _ in again] == [name for name, _ in calls]
    for (_, first), (_, second) in zip(calls, again, strict=True):
        assert first.keys() == second.keys()
        for key, value in first.items():
            assert second[key] == (pytest.approx(value, abs=2) if key[-1] in "xy" else value)


SPACES = [
    ("android-world", "Action: {\"action_type\": \"click\", \"x\": 300, \"y\": 700}", (300, 700)),
    ("ui-tars", "Action: click(start_box='(300,700)')", (324, 1680)),
    # 1080 x 2400 is resized to 1092 x 2408 by a factor of 28.
    ("ui-tars-1.5", "Action: click(start_box='(546,1204)')", (540, 1200)),
    ("qwen2.5-vl-mobile", use("mobile_use", action="click", coordinate=[546, 1204]), (540, 1200)),
    ("qwen3-vl-mobile", use("mobile_use", action="click", coordinate=[333, 333]), (360, 800)),
    ("gui-owl", use("mobile_use", action="click", coordinate=[546, 1204]), (540, 1200)),
    ("gui-owl-1.5", use("mobile_use", action="click", coordinate=[300, 700]), (324, 1680)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "point"), SPACES)
def test_each_model_has_its_coordinate_space(name, text, point):
    codec = codec_for(name, phone())
    assert calls_of(codec, text) == [("click", dict(zip("xy", point, strict=True)))]


def test_the_screenshot_may_be_smaller_than_the_screen():
    codec = codec_for("ui-tars-1.5", phone(1080, 2400))
    shown = seeing(codec, [("Screen:", Image(540, 1200, bytes(3 * 540 * 1200)))])
    # 540 x 1200 is resized to 532 x 1204; half of it is half of the screen.
    reply = "Action: click(start_box='(266,602)')"
    assert calls_of(shown, reply) == [("click", {"x": 540, "y": 1200})]


def test_without_a_screen_size_in_the_tools_the_screenshot_is_the_screen():
    tools = [tool("click", x={"type": "integer"}, y={"type": "integer"})]
    codec = codec_for("gui-owl-1.5", tools)
    reply = use("mobile_use", action="click", coordinate=[500, 500])
    assert calls_of(codec, reply) == [("click", {"x": 500, "y": 500})]
    shown = seeing(codec, ["text", (Image(200, 100, bytes(60_000)),)])
    assert calls_of(shown, reply) == [("click", {"x": 100, "y": 50})]


@pytest.mark.parametrize(
    ("size", "resized"),
    [
        ((1080, 2400), (1092, 2408)),
        ((28, 28), (280, 280)),  # enlarged to the minimum area
        ((1920, 1080), (1932, 1092)),
        ((8000, 6000), (4116, 3080)),  # reduced to the maximum area
    ],
)
def test_smart_resize(size, resized):
    least, most = 100 * 28 * 28, 16384 * 28 * 28
    assert smart_resize(*size, 28, least, most) == resized
    assert least <= resized[0] * resized[1] <= most


def test_smart_resize_refuses_what_the_processors_refuse():
    with pytest.raises(ValueError, match="aspect ratio of at most 200, got 2010 x 10"):
        smart_resize(2010, 10, 28, 3136, 10**6)


MALFORMED = [
    ("android-world", 'Action: {"action_type": "click", "index": }', "not valid JSON"),
    ("android-world", 'Action: {"action": "click"}', "no tool"),
    ("android-world", 'Action: {"action_type": "tap", "index": 3}', "no tool 'tap'"),
    ("android-world", 'Action: {"action_type": "click", "index": "three"}', "must be of type"),
    ("ui-tars", "Action: click(start_box='(500,')", "no argument 'start_box'"),
    ("ui-tars", "Action: click(start_box='(500,2000)')", "must lie in 0…2399"),
    ("ui-tars", "Action: click(start_box=", "not valid JSON"),
    ("ui-tars", "Action: click(500, 250)", "not valid JSON"),
    ("ui-tars", "Action: fly(to='(1,2)')", "no tool 'fly'"),
    ("ui-tars", "Action: scroll(start_box='(5,5)', direction='sideways')", "no argument"),
    ("gui-owl-1.5", use("mobile_use", action="click", coordinate="here"), "no argument"),
    ("gui-owl-1.5", use("mobile_use", action="fly"), "no tool 'fly'"),
    ("gui-owl-1.5", use("mobile_use", action="system_button", button="Menu"), "no tool 'system_bu"),
    ("gui-owl-1.5", use("mobile_use", coordinate=[1, 2]), "no tool 'mobile_use'"),
    ("gui-owl-1.5", '<tool_call>{"name": "mobile_use", "arg</tool_call>', "not valid JSON"),
    ("gui-owl-1.5-computer", use("computer_use", action="key", keys=[]), "no tool 'key'"),
    ("gui-owl-1.5-computer", use("computer_use", action="scroll", pixels=0), "needs the argument"),
]


@pytest.mark.parametrize(("name", "text", "problem"), MALFORMED)
def test_a_malformed_action_is_answered_by_the_environment(name, text, problem):
    tools = desktop() if name.endswith("computer") else phone()
    read = parse_text(codec_for(name, tools).decode({"content": text}))
    assert read.calls
    assert all(problem in ToolTable(tools).problem(call) for call in read.calls)


def test_an_action_without_its_point_is_a_call_without_arguments():
    codec = codec_for("gui-owl-1.5", phone())
    assert calls_of(codec, use("mobile_use", action="click")) == [("click", {})]


PROSE = ["I am done.", "Action: ", "Action: tap the button", "Thought: hm", "{}", "[1]", "null"]


@pytest.mark.parametrize("text", PROSE)
@pytest.mark.parametrize("name", ["android-world", "ui-tars", "gui-owl-1.5"])
def test_prose_stays_prose_and_is_answered_with_an_example(name, text):
    codec = codec_for(name, phone())
    assert codec.decode({"content": text}) == text
    [answer] = codec.answer({"content": text}, ["Error: no call."])
    assert answer["content"].startswith("Error: no call.")
    assert calls_of(codec, codec.example)[0][0] in ("click", "wait")
    assert codec.example in answer["content"]


@pytest.mark.parametrize("name", ["ui-tars", "gui-owl-1.5", "android-world"])
def test_the_answer_to_a_readable_action_is_only_the_observation(name):
    codec = codec_for(name, phone())
    [answer] = codec.answer({"content": codec.example}, ["seen"])
    assert "seen" in answer["content"] and "Example" not in answer["content"]


def test_the_prompt_offers_only_what_the_tools_can_do():
    tools = [each.model_dump() for each in phone() if each.name in ("click", "wait", "double_tap")]
    tars = get_codec("ui-tars").system_prompt("Go.", tools)
    assert "click(start_box=" in tars and "left_double(" in tars and "type(content" not in tars
    owl = get_codec("gui-owl-1.5").system_prompt("Go.", tools)
    row = json.loads(owl.partition("<tools>\n")[2].partition("\n")[0].partition("\n</tools>")[0])
    assert row["function"]["name"] == "mobile_use"
    assert row["function"]["parameters"]["properties"]["action"]["enum"] == ["click", "wait"]
    assert "The screen is 1000x1000." in row["function"]["description"]
    assert '"name": "double_tap"' in owl


def test_ending_a_task_with_a_reason_is_offered_as_a_call():
    tools = [each.model_dump() for each in phone()]
    for name in ("ui-tars", "gui-owl-1.5"):
        assert '"reason"' in get_codec(name).system_prompt("Go.", tools)
    reply = '{"name": "status", "arguments": {"goal_status": "infeasible", "record": "note 3"}}'
    assert codec_for("ui-tars", phone()).decode({"content": reply}) == reply


@pytest.mark.parametrize(
    ("x", "y", "direction"), [(540, 600, "up"), (540, 2160, "down"), (100, 1800, "left")]
)
def test_swipes_and_scrolls_take_the_form_of_the_tools(x, y, direction):
    place = points(1080, 2400)
    ends = {"x2": place["x"], "y2": place["y"]}
    tools = [
        tool("swipe", ["direction"], direction=TEXT, **place, **ends),
        tool("scroll", ["direction"], direction=TEXT, index=place["index"]),
    ]
    codec = codec_for("gui-owl-1.5", tools)
    end = [round(x / 1.08), round(y / 2.4)]
    reply = use("mobile_use", action="swipe", coordinate=[500, 750], coordinate2=end)
    swipe = {"x": 540, "y": 1800, "x2": x, "y2": y, "direction": direction}
    assert calls_of(codec, reply) == [("swipe", swipe)]
    again = codec.encode(codec.decode({"content": reply}))["content"]
    assert json.loads(again.split("\n")[1])["arguments"]["coordinate2"] == end
    tars = codec_for("ui-tars", tools)
    assert calls_of(tars, "Action: scroll(start_box='(5,5)', direction='down')") == [
        ("scroll", {"direction": "down"})
    ]


class SeeingEngine:
    """Answers every request with a tap in the middle of the screen, and records the requests."""

    def __init__(self):
        self.requests = []

    async def chat(self, request):
        self.requests.append(list(request.messages))
        reply = {"role": "assistant", "content": "Action: click(start_box='(500,500)')"}
        return ChatReply(reply, Usage(), "stop", 0.0, 0.0)


def test_an_agents_points_scale_with_its_screenshots():
    place = {"x": {"type": "integer"}, "y": {"type": "integer"}}
    tools = [tool("click", **place).model_dump()]
    source = get_source("sql")
    task = source.build(source.address("train", 0))
    engine = SeeingEngine()
    episode = Episode(task, source, 0, 0, "hexathlon/GUI-v0", "Play.", tools)
    player = LlmAgent(engine, get_codec("ui-tars")).begin(episode)
    actions = []
    for width, height in ((200, 100), (400, 800)):
        screen = (Text("Screen:"), Image(width, height, bytes(3 * width * height)))
        turn = asyncio.run(player.act([make_message("user", screen)]))
        actions.append(json.loads(turn.action)["arguments"])
    assert actions == [{"x": 100, "y": 50}, {"x": 200, "y": 400}]
    assert "click(start_box=" in engine.requests[0][0]["content"]
    again = LlmAgent(engine, get_codec("ui-tars")).begin(episode)
    again.resume([PastTurn([make_message("user", screen)], turn.action)], None)
    asyncio.run(again.act([make_message("user", "Go on.")]))
    told = engine.requests[-1][2]["content"]
    assert told == "Action: click(start_box='(500,500)')"

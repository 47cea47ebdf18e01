"""Messages with parts through the base, wrappers, forks, workers and vectors; tools as data."""

import pickle

import pytest
from gymnasium.error import ResetNeeded

from hexathlon.envs.errors import ToolError
from hexathlon.envs.forking import fork, restore, snapshot
from hexathlon.envs.messages import cut_content
from hexathlon.envs.spaces import MAX_TEXT, Contents, Unicode
from hexathlon.envs.tools import tool
from hexathlon.envs.vector import VectorEnvironment, make_vector
from hexathlon.envs.workers import HostedEnvironment
from hexathlon.envs.wrappers import ChatHistory, EpisodeRecorder, StepTimeout, TokenBudget
from hexathlon.evaluators.content import ContentError, Image, Text, content_to_json
from support.drill import HOSTED, DrillEnv, hang, walk
from support.drill import TASK as DRILL
from support.lights import LightsEnv
from support.parts import PICTURE, REPORT, PartsEnv
from support.toy import ADD, SUBMIT, ToyEnv

TASK = {"task": "toy/count/easy/test/00003"}
LIT = {"task": "example-lights/drawn/easy/test/00002"}


class DataTools(ToyEnv):
    """Its tools are whatever the task says."""

    def call_tool(self, name, arguments):
        if name == "submit":
            self.finish()
        if arguments.get("amount") == 9:
            raise ToolError("nine is too much")
        return f"{name} {sorted(arguments)}"


def parts_in(env):
    return [m["content"] for m in env.transcript if not isinstance(m["content"], str)]


def test_text_format_shows_the_text_and_the_transcript_has_the_parts():
    env = PartsEnv()
    env.reset(seed=0, options=TASK)
    observation = env.step(ADD % 3)[0]
    assert observation.startswith("The counter stands at 3.") and observation in Unicode()
    (content,) = parts_in(env)
    assert content == (Text(observation), PICTURE, REPORT)
    assert env.messages_since(2) == env.transcript[2:] and len(env.messages_since(2)) == 1


def test_message_format_shows_the_parts():
    env = PartsEnv(action_format="message")
    env.reset(seed=0, options=TASK)
    call = {"id": "a", "name": "add", "arguments": '{"amount": 3}'}
    turn = {"role": "assistant", "content": "", "tool_calls": (call,), "tool_call_id": ""}
    observation = env.step(turn)[0]
    assert observation in env.observation_space
    assert observation[0]["content"][1:] == (PICTURE, REPORT)


def test_long_text_parts_are_cut_and_nothing_else_counts():
    content = (Text("x" * 900), PICTURE, Text("é\ud800" * 300))
    cut, count = cut_content(content, 600)
    assert [len(part.text) for part in cut if isinstance(part, Text)] == [
        300 - 60 + 31
    ] * 2 or count
    assert cut[1] is PICTURE and "characters cut" in cut[0].text
    assert "\ud800" not in cut[2].text
    assert cut_content((PICTURE, Text("short")), 600) == ((PICTURE, Text("short")), 0)


def test_an_answer_with_long_parts_counts_what_was_cut():
    class Wordy(ToyEnv):
        @tool
        def tool_add(self, amount):
            return (Text("long " * 40_000), PICTURE)

    env = Wordy()
    env.reset(seed=0, options=TASK)
    observation, _, _, _, info = env.step(ADD % 1)
    assert len(observation) <= env.limits.observation_chars < 200_000
    assert info["cut_chars"] == 200_000 - (env.limits.observation_chars - 60)


@pytest.mark.parametrize("answer", [5, [Text("a")], ("a",), (Text("a"),) * 65])
def test_an_answer_that_is_not_content_is_an_error(answer):
    class Wrong(ToyEnv):
        @tool
        def tool_add(self, amount):
            return answer

    env = Wrong()
    env.reset(seed=0, options=TASK)
    with pytest.raises(ContentError, match="a str or a tuple|at most 64 parts"):
        env.step(ADD % 1)


def test_contents_are_a_space_of_their_own():
    space = Contents(10)
    assert "text" in space and (Text("text"), PICTURE) in space
    assert (Text("x" * 11),) not in space and ("text",) not in space and 5 not in space
    assert space == Contents(10) != Unicode(10) and pickle.loads(pickle.dumps(space)) == space
    assert (Text("text"),) not in Unicode(MAX_TEXT)


def test_the_image_after_a_turn_is_the_last_part_and_the_observation():
    env = LightsEnv(render_mode="rgb_array")
    with pytest.raises(ResetNeeded):
        env.render()
    observation, _ = env.reset(seed=1, options=LIT)
    assert observation in env.observation_space and env.metadata["render_modes"][-1] == "rgb_array"
    text, image = env.transcript[0]["content"]
    assert text.text == observation["text"] and (image.array() == observation["image"]).all()
    assert (env.render() == observation["image"]).all()
    said = env.step("Hm.")[0]
    assert said["text"].startswith("Error") and (said["image"] == observation["image"]).all()
    message = LightsEnv(action_format="message")
    (opening,), _ = message.reset(seed=1, options=LIT)
    assert opening["content"] == (text, image) and (opening,) in message.observation_space


def test_rendered_text_names_images():
    env = LightsEnv(render_mode="ansi")
    env.reset(seed=1, options=LIT)
    assert f"[image, 128 x 96, sha256 {env.transcript[0]['content'][1].sha256}]" in env.render()


def test_a_frame_of_another_size_is_refused():
    class Wrong(LightsEnv):
        image_size = (10, 10)

    with pytest.raises(ValueError, match=r"96 x 128, image_size is \(10, 10\)"):
        Wrong().reset(seed=0, options=LIT)


@pytest.mark.parametrize("make", [PartsEnv, LightsEnv])
def test_forks_share_parts_and_continue_identically(make):
    env = make()
    env.reset(seed=4, options=TASK if make is PartsEnv else LIT)
    env.step(ADD % 3)
    state = pickle.loads(pickle.dumps(snapshot(env)))
    (other,) = fork(env)
    third = make()
    restore(third, state)
    assert env.transcript == other.transcript == third.transcript and parts_in(env)
    steps = [one.step("Hm.") for one in (env, other, third)]
    assert len({repr(step) for step in steps}) == 1


def test_tools_are_data_of_the_task():
    env = DataTools()
    env.reset(seed=0, options=TASK)
    assert env.step(ADD % 3)[0] == "add ['amount']"
    assert env.step(ADD % 9)[0] == "Error: nine is too much"
    assert env.step('{"name": "fly", "arguments": {}}')[0].startswith("Error: there is no tool")
    assert env.step('{"name": "add", "arguments": {}}')[0].startswith("Error: add needs")
    assert env.step(SUBMIT)[4]["tool_errors"] == 3


def test_a_tool_of_the_task_without_a_method_is_not_available():
    class Fewer(ToyEnv):
        tool_add = None

    env = Fewer()
    env.reset(seed=0, options=TASK)
    observation, _, _, _, info = env.step(ADD % 3)
    assert observation == "Error: add is not available here." and info["tool_errors"] == 1


def test_samples_of_an_action_space_call_the_examples():
    class Named(DataTools):
        example_tools = ("one", "two")

    space = Named().action_space
    space.seed(0)
    assert {'{"name": "one", "arguments": {}}', '{"name": "two", "arguments": {}}'} < {
        space.sample() for _ in range(50)
    }


def test_a_worker_hands_over_parts():
    with HostedEnvironment("support.parts:PartsEnv") as hosted:
        local = PartsEnv()
        assert hosted.reset(seed=2, options=TASK) == local.reset(seed=2, options=TASK)
        assert hosted.step(ADD % 3) == local.step(ADD % 3)
        assert hosted.transcript == local.transcript and parts_in(hosted)
        assert hosted.messages_since(1) == local.messages_since(1)
        (clone,) = hosted.fork()
        with clone:
            assert clone.transcript == local.transcript


def test_a_killed_worker_leaves_the_last_image_in_message_format():
    with HostedEnvironment(HOSTED, action_format="message", action_seconds=0.3) as hosted:
        (opening,), _ = hosted.reset(seed=1, options={"task": DRILL})
        call = {"id": "a", "name": "hang", "arguments": '{"how": "busy"}'}
        turn = {"role": "assistant", "content": "", "tool_calls": (call,), "tool_call_id": ""}
        observation, _, _, truncated, _ = hosted.step(turn)
        assert truncated and observation in hosted.observation_space
        assert observation[0]["content"][1] == opening["content"][-1]


def test_an_action_that_hangs_shows_the_image_before_it():
    env = StepTimeout(DrillEnv(), 0.2)
    opening, _ = env.reset(seed=1, options={"task": DRILL})
    observation, _, _, truncated, _ = env.step(hang("awaiting"))
    assert truncated and (observation["image"] == opening["image"]).all()
    env.close()


def test_a_late_step_of_an_image_environment_stays_in_its_space():
    class Slow(LightsEnv):
        @tool
        def press(self, cell):
            while True:
                pass

    env = StepTimeout(Slow(), 0.2)
    opening, _ = env.reset(seed=1, options=LIT)
    observation = env.step('{"name": "press", "arguments": {"cell": 1}}')[0]
    assert observation in env.observation_space
    assert (observation["image"] == opening["image"]).all()


def test_vectors_batch_images():
    vector = make_vector(LightsEnv, 3)
    observations, _ = vector.reset(seed=[1, 2, 3])
    assert observations["image"].shape == (3, 96, 128, 3)
    batch = vector.step(["Hm."] * 3)
    assert (batch[0]["image"] == observations["image"]).all()
    vector.close()
    texts = VectorEnvironment([PartsEnv] * 2)
    texts.reset(seed=[1, 2], options=TASK)
    assert all(text.startswith("The counter") for text in texts.step([ADD % 1] * 2)[0])
    texts.close()


def test_histories_records_and_budgets_know_parts():
    history = ChatHistory(LightsEnv())
    messages, _ = history.reset(seed=1, options=LIT)
    assert isinstance(messages[-1]["content"][1], Image) and messages in history.observation_space
    text = ChatHistory(LightsEnv(), form="text").reset(seed=1, options=LIT)[0]
    assert "[image, 128 x 96, sha256" in text
    recorder = EpisodeRecorder(LightsEnv())
    recorder.reset(seed=1, options=LIT)
    recorder.step("Hm.")
    image = messages[-1]["content"][1]
    assert recorder.record["opening"] == content_to_json(messages[-1]["content"])
    assert recorder.record["steps"][0]["observation"][1] == image.to_json()
    assert recorder.media == {image.sha256: image.png()}
    budget = TokenBudget(LightsEnv(), 10_000, count="all")
    opening, _ = budget.reset(seed=1, options=LIT)
    assert budget.used == len(opening["text"])
    messages_budget = TokenBudget(LightsEnv(action_format="message"), 10_000, count="all")
    messages_budget.reset(seed=1, options=LIT)
    assert messages_budget.used == len(opening["text"])


def test_walking_changes_the_image():
    env = DrillEnv()
    before, _ = env.reset(seed=1, options={"task": DRILL})
    after = env.step(walk(2))[0]
    assert (after["image"] != before["image"]).any()
    assert len({content[-1].sha256 for content in parts_in(env)}) == 2
    env.close()

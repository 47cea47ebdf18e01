"""A model on a real server rewords the other speaker's lines."""

import pytest

from hexathlon.baselines.engines.http import HttpEngine, HttpSettings
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.roleplay.partner import ModelPartner, messages_for
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.roleplay.voices import Cue
from support.chat_server import ChatServer
from support.scenes import build, play, right

TASK = "roleplay/boundary/tiny/test/00000"


@pytest.fixture(scope="module")
def server():
    with ChatServer() as running:
        yield running


def partner_of(server, model):
    settings = HttpSettings(server.url, model, retries=1, backoff=0.01, timeout=60.0)
    return ModelPartner(HttpEngine(settings, AdaptiveLimit(4), PriceTable("", "", {})), None, 10.0)


def test_model_rewords_lines_without_changing_scores(server):
    partner = partner_of(server, "plain")
    task = build(TASK)
    try:
        heard, verdict = play(task, right(task), partner=partner)
    finally:
        partner.close()
        partner.close()
    assert verdict.score == 1.0
    free = [i for i, line in enumerate(task.params["lines"]) if not line["keep"]]
    assert free and all(heard[place].endswith("hello") for place in free)
    kept = [i for i, line in enumerate(task.params["lines"]) if line["keep"]]
    assert all(heard[i].endswith(task.params["lines"][i]["text"]) for i in kept)


def test_silent_model_is_an_infrastructure_failure(server):
    partner = partner_of(server, "rate-limited-for-long")
    try:
        with pytest.raises(EnvFault, match="no reply") as caught:
            play(build(TASK), [], partner=partner)
    finally:
        partner.close()
    assert caught.value.cause == "partner"


def test_prompt_contains_the_line_and_no_secret():
    task = build("roleplay/negotiation/hard/test/00000")
    cues = []
    play(task, right(task), partner=lambda cue: cues.append(cue) or cue.line)
    told = "\n".join(str(messages_for(cue)) for cue in cues[:1])
    slots = task.params["agenda"]["slots"].values()
    assert not any(str(slot["value"]) in told for slot in slots if not slot.get("volunteer"))
    assert task.canary not in told


def test_prompt_contains_recent_lines_only():
    cue = Cue("Well?", "is gruff", "en", [f"turn {i}" for i in range(40)])
    text = messages_for(cue)[1]["content"]
    assert "turn 39" in text and "turn 10" not in text and text.endswith("Well?")
    assert "is gruff" in messages_for(cue)[0]["content"]

"""A checkpoint trained on verdicts is asked as a judge with the very tokens of its training."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.checkpoint import open_chat
from hexathlon.baselines.judging.audit import Auditor, AuditSettings
from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.training.recipe import load_recipe, recipe_of
from hexathlon.baselines.training.start import make_start
from hexathlon.baselines.warmstart.demonstrations import Demonstrator, Noise, sample_of
from hexathlon.evaluators.judges.prompts import pointwise_prompt
from hexathlon.evaluators.roleplay.verdict_labels import label_verdicts
from hexathlon.evaluators.roleplay.verdicts import criterion_of, transcript_of
from hexathlon.tasks.registry import get_source

SOURCE = get_source("verdicts")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge after a few steps of cloning: it answers, rarely right."""
    place = tmp_path_factory.mktemp("judge") / "start"
    recipe: dict[str, Any] = load_recipe("judge-tiny").model_dump(mode="json")
    recipe["policy"]["shape"] |= {"width": 64, "layers": 1, "heads": 2, "kv_heads": 2,
                                  "head_width": 32, "feed_forward": 64, "induction": 0}  # fmt: skip
    recipe["clone"] |= {"demonstrations": 200, "noise": {}, "thoughts": False}
    recipe["clone"]["settings"]["steps"] = 3
    make_start(recipe_of({**recipe, "ranks": 1}), place, lambda *told: None)
    return place


def test_prompts_of_training_and_of_judging_have_the_same_tokens(judge: Path) -> None:
    chat = open_chat(judge, 1)
    task = SOURCE.build("verdicts/asked/tiny/dev/00003")
    with Demonstrator("judging/Verdicts-v0", make_env, Noise()) as demonstrator:
        played = demonstrator.demonstrate(task.id, thinking=True)
    sample = sample_of(played, "json", chat._renderer)
    prompt = pointwise_prompt(criterion_of(task.params), transcript_of(task.params))
    asked = [token for segment in chat._renderer.open(prompt.messages) for token in segment.ids]
    start = int(sample.sampled.argmax())
    assert sample.ids[:start].tolist() == asked
    said = chat._renderer.decode(sample.ids[sample.sampled].tolist())
    thought, verdict = said.split("</think>")
    assert SOURCE.thought(task, [], "") in thought
    end = verdict.rindex("}") + 1
    assert json.loads(verdict[:end])["label"] == task.checks[0].params["label"]


def test_a_checkpoint_is_audited_on_labels_of_unseen_kinds(judge: Path) -> None:
    rubric, replies = label_verdicts("other-kinds", 0, 6)
    settings = JudgeSettings(str(judge), max_tokens=24, retries=0)
    client = open_client(settings, identify_judge(settings))
    sizes = AuditSettings(repeats=0, pairs=0, padded=0, groups=0, attacked=0)

    async def audited() -> dict[str, Any]:
        try:
            return await Auditor(client, rubric, replies, sizes).run()
        finally:
            await client.close()

    audit = asyncio.run(audited())
    assert audit["judge"]["kind"] == "checkpoint" and audit["labels"]["items"] == 6
    assert audit["agreement"]["overall"]["items"] == 6
    assert audit["controls"]["planted"] == 12

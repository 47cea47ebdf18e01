"""Tokens of a policy's trials: from `tokens.jsonl` to the trajectory page."""

import json
from pathlib import Path
from typing import Any

import pytest

from hexathlon.evaluators.records import read_records
from hexathlon.leaderboard.build import build
from hexathlon.leaderboard.packing import unpacked_text
from hexathlon.leaderboard.tokens import Vocabulary, tokens_by_record, turn_tokens
from support.runs import make_run

TOKENIZER = {
    "decoder": {
        "type": "Sequence",
        "decoders": [
            {"type": "ByteLevel"},
            {"type": "Replace", "pattern": {"Regex": "(?<=[a-z])\ue001"}, "content": " "},
            {"type": "Replace", "pattern": {"String": "\ue001"}, "content": ""},
        ],
    },
    "model": {"vocab": {"look": 5, "\u0120at": 6, "\u00ee\u0122\u0123pink": 7, "\u00c3": 8}},
    "added_tokens": [{"id": 1, "content": "<|im_start|>"}],
}
NODES = [
    {"ids": [1, 9], "kind": "prompt"},
    {"ids": [5, 6], "kind": "sampled", "turn": 0, "log_probabilities": [-0.01, -2.5]},
    {"ids": [7], "kind": "observation", "parent": 1},
    {"ids": [5], "kind": "sampled", "turn": 1, "log_probabilities": [-0.5]},
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    training = tmp_path_factory.mktemp("training")
    made = make_run(training / "after", "atlas-72b-instruct", tasks=3, trials=1)
    (training / "recipe.json").write_text('{"name": "mine", "seed": 1}')
    (training / "metrics.jsonl").write_text('{"step": 1, "reward": 0.5}\n')
    (training / "policy").mkdir()
    (training / "policy" / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    lines = [
        json.dumps({"key": record["key"], "record": record["hash"], "tokens": NODES}) + "\n"
        for record in read_records(made)
    ]
    (made / "tokens.jsonl").write_text("".join(lines[:2]) + '{"torn')
    return made


def test_turns_hold_given_and_sampled_tokens(run: Path) -> None:
    found = tokens_by_record(run)
    assert len(found) == 2
    vocabulary = Vocabulary.of(run, {})
    assert turn_tokens(next(iter(found.values())), vocabulary) == {
        "0": [
            ("<|im_start|>", None, 0),
            ("\u27e89\u27e9", None, 0),
            ("look", -0.01, 1),
            (" at", -2.5, 1),
        ],
        "1": [(" pink", None, 0), ("look", -0.5, 1)],
    }


@pytest.mark.parametrize(
    "line",
    ["[]", "{}", '{"record": 1, "tokens": []}', '{"record": "x", "tokens": [{"ids": ["<b>"]}]}'],
)
def test_other_lines_are_left_out(tmp_path: Path, line: str) -> None:
    (tmp_path / "tokens.jsonl").write_text(line + "\n")
    assert tokens_by_record(tmp_path) == {}


def test_a_site_holds_them_beside_the_records(run: Path, tmp_path: Path) -> None:
    build([run], tmp_path / "site")
    (script,) = tmp_path.glob("site/runs/*/data/tokens-0000.js")
    assert sorted(json.loads(unpacked_text(script.read_bytes()))) == ["1", "2"]
    (run / "tokens.jsonl").rename(run / "other.jsonl")
    build([run], tmp_path / "site")
    assert not list(tmp_path.glob("site/runs/*/data/tokens-*.js"))
    (run / "other.jsonl").rename(run / "tokens.jsonl")


@pytest.mark.browser
def test_the_trajectory_page_shades_sampled_tokens(browser: Any, run: Path, tmp_path: Path) -> None:
    build([run], tmp_path / "site")
    page = browser.new_page()
    page.goto(next(tmp_path.glob("site/runs/*/trial.html")).as_uri() + "#1")
    shown = page.locator("details.tokens").first
    shown.locator("summary").click()
    assert shown.locator("summary").inner_text() == "4 tokens, 2 sampled"
    assert shown.locator(".masked").first.inner_text() == "<|im_start|>"
    assert shown.locator(".token.h9").inner_text() == "look"
    assert "-2.500" in shown.locator(".token.h0").get_attribute("title")
    page.goto(page.url.replace("#1", "#3"))
    page.locator('.trajectory[data-line="3"]').wait_for()
    assert page.locator("details.tokens").count() == 0
    page.close()

"""Training at a server that fails: 503 storms, cut sockets, log-probabilities that are NaN.

The server is a stand-in on a real socket. It continues every prompt with the same tokens, so that a
disturbed run can be compared with an undisturbed one.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.training.asynchronous import BatchEmpty
from hexathlon.baselines.training.step import NothingToLearn
from support.asynchronous import made_start, played, trainer
from support.token_server import CUT, TokenServer
from support.training import weight_hashes

DRAWN = 8
"""Tokens of a reply."""

BUSY = (503, {"error": "overloaded"})
NOT_A_NUMBER = (
    200,
    json.dumps(
        {
            "choices": [
                {
                    "token_ids": list(range(DRAWN)),
                    "finish_reason": "length",
                    # vLLM's JSON has this number in place of NaN.
                    "logprobs": {
                        "content": [{"token_id": n, "logprob": -9999.0} for n in range(DRAWN)]
                    },
                }
            ]
        }
    ).encode(),
)


class Trained(NamedTuple):
    """Two steps of a run."""

    rows: list[dict[str, float]]
    weights: dict[str, str]
    records: list[Any]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_start(tmp_path_factory.mktemp("start") / "policy")


@pytest.fixture(scope="module")
def running() -> Iterator[TokenServer]:
    with TokenServer() as server:
        yield server


@pytest.fixture
def server(running: TokenServer) -> TokenServer:
    running.reset().context = 256
    return running


def trained(
    start: Path, folder: Path, server: TokenServer, faults: Any = (), **more: Any
) -> Trained:
    """Train two steps; the faults begin with the first rollouts."""
    changes = {
        "engine__kind": "vllm",
        "engine__urls": [server.root],
        "engine__tolerance": 1e6,  # its log-probabilities are those of no model
        "rollout__max_tokens": DRAWN,
        **more,
    }
    with trainer(start, folder, **changes) as run:
        server.behaviour.faults = list(faults)
        rows = [
            {name: value for name, value in run.advance().items() if "seconds" not in name}
            for _ in range(2)
        ]
        weights = weight_hashes(run.components.model)
    return Trained(rows, weights, [*played(folder, 1), *played(folder, 2)])


def steps_of(records: list[Any]) -> list[Any]:
    return [(record["key"], record["steps"], record["reward"]) for record in records]


@pytest.fixture(scope="module")
def undisturbed(start: Path, running: TokenServer, tmp_path_factory: Any) -> Trained:
    running.reset().context = 256
    made = trained(start, tmp_path_factory.mktemp("undisturbed"), running)
    assert made.rows[0]["tokens/drawn"] > 0 and made.weights != made_weights(start)
    return made


def made_weights(start: Path) -> dict[str, str]:
    from support.served import learner

    return weight_hashes(learner(start))


@pytest.mark.parametrize("fault", [BUSY, (CUT, {})], ids=["503", "cut"])
def test_a_storm_changes_no_update_and_no_record(
    fault: Any, start: Path, server: TokenServer, undisturbed: Trained, tmp_path: Path
) -> None:
    before = len(server.requests)
    disturbed = trained(start, tmp_path, server, [fault, fault, None] * 6)
    assert server.behaviour.faults == []
    assert len(server.requests) - before >= 12
    assert disturbed.weights == undisturbed.weights
    assert disturbed.rows == undisturbed.rows
    assert steps_of(disturbed.records) == steps_of(undisturbed.records)


def test_a_log_probability_that_is_not_a_number_is_never_trained_on(
    start: Path, server: TokenServer, undisturbed: Trained, tmp_path: Path
) -> None:
    """The trial is played again from the turn that failed, and is recorded as retried."""
    disturbed = trained(start, tmp_path, server, [None, NOT_A_NUMBER])
    assert disturbed.weights == undisturbed.weights
    assert disturbed.rows == undisturbed.rows
    assert steps_of(disturbed.records) == steps_of(undisturbed.records)
    (retried,) = [record for record in disturbed.records if record["earlier"]]
    assert "logits are not finite" in retried["earlier"][0]["message"]


@pytest.mark.parametrize(
    ("staleness", "error"), [(0, NothingToLearn), (1, BatchEmpty)], ids=["synchronous", "ahead"]
)
def test_a_policy_whose_log_probabilities_are_not_numbers_stops_the_run_by_name(
    staleness: int, error: type[Exception], start: Path, server: TokenServer, tmp_path: Path
) -> None:
    faults = [NOT_A_NUMBER] * 2_000
    with pytest.raises(error, match="logits are not finite"):
        trained(start, tmp_path, server, faults, asynchrony__staleness=staleness)

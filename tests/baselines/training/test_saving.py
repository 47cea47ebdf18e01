"""States that cannot be written: named, removed, and without harm to earlier ones."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.training.saving import (
    StateNotSaved,
    latest_state,
    load_state,
    save_state,
)
from support.disks import largest_file
from support.learning import difference, examples, model


@pytest.mark.parametrize("failing", ["model.safetensors", "optimiser.pt", "state.json"])
def test_a_file_without_room_is_named_and_the_earlier_state_stays(tmp_path, failing):
    learner = Learner(model(), LearnerConfig(), 2)
    learner.update(examples(4))
    save_state(tmp_path, 1, learner.model, learner.optimisers, {})
    saved = {file.name: file.stat().st_size for file in (tmp_path / "000001").iterdir()}
    rest, limit = {}, saved[failing] - 1
    if failing == "state.json":  # larger than the files that are written before it
        limit = max(saved.values())
        rest = {"more": "x" * limit}
    with largest_file(limit), pytest.raises(StateNotSaved, match=r"after step 2 in .*\(.+\);"):
        save_state(tmp_path, 2, learner.model, learner.optimisers, rest)
    assert [path.name for path in tmp_path.iterdir()] == ["000001"]
    again = Learner(model(), LearnerConfig(), 2)
    assert load_state(latest_state(tmp_path), again.model, again.optimisers)["step"] == 1
    assert difference(again.model.state_dict(), learner.model.state_dict()) == 0
    save_state(tmp_path, 2, learner.model, learner.optimisers, rest)
    assert latest_state(tmp_path).name == "000002"

"""A learner's update from stored trajectories, also as a script for a separate process.

`python -m support.training CHECKPOINT TRAJECTORIES...` prints, for each file of trajectories, the
hashes of the updated weights as a line of JSON; a file is JSON lines or a pickle.
"""

import hashlib
import json
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.tokens.trajectory import Trajectory
from support.served import learner

__all__ = ["read", "update_hashes", "weight_hashes"]


def update_hashes(checkpoint: Path, trajectories: Sequence[Trajectory]) -> dict[str, str]:
    """Return a hash of each weight after one update on the trajectories' samples."""
    model = learner(checkpoint)
    samples = [sample for trajectory in trajectories for sample in trajectory.samples()]
    assert samples
    batch = [
        Example(
            sample,
            sample.sampled * (1.0 if number % 2 else -0.7),
            sample.sampled.astype(np.float64),
        )
        for number, sample in enumerate(samples)
    ]
    Learner(model, LearnerConfig(), 1).update(batch)
    return weight_hashes(model)


def weight_hashes(model: Any) -> dict[str, str]:
    """Return a hash of each weight of a model."""
    return {
        name: hashlib.sha256(weight.detach().numpy().tobytes()).hexdigest()
        for name, weight in model.state_dict().items()
    }


def read(path: Path) -> list[Trajectory]:
    """Read the trajectories of a file."""
    if path.suffix == ".pickle":
        return list(pickle.loads(path.read_bytes()))
    return [Trajectory.from_json(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    for file in sys.argv[2:]:
        print(json.dumps(update_hashes(Path(sys.argv[1]), read(Path(file)))))

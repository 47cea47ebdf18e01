"""Log-probabilities of replies from a local Hugging Face checkpoint, for R-EMID and the like.

Needs torch and transformers, which are imported when a checkpoint is opened. The context and the
reply are tokenised apart, so that the reply's tokens are the same in every context.
"""

import importlib
import importlib.util
from pathlib import Path
from typing import Any

__all__ = ["CheckpointScorer", "ScorerUnavailable"]


class ScorerUnavailable(Exception):
    """Torch or transformers is missing, or the directory holds no checkpoint."""


class CheckpointScorer:
    """Scores replies with a causal language model; call it with a context and a reply.

    Args:
        directory: A Hugging Face checkpoint with its tokeniser.
        device: Where the model runs.

    Raises:
        ScorerUnavailable: If a package or the checkpoint is missing.
    """

    def __init__(self, directory: str | Path, device: str = "cpu") -> None:
        missing = [name for name in ("torch", "transformers") if not importlib.util.find_spec(name)]
        if missing:
            raise ScorerUnavailable(
                f"scoring with a checkpoint needs {' and '.join(missing)}: "
                "pip install 'hexathlon[train]'"
            )
        if not (Path(directory) / "config.json").is_file():
            raise ScorerUnavailable(f"{directory} holds no checkpoint: it has no config.json")
        transformers: Any = importlib.import_module("transformers")
        self._torch: Any = importlib.import_module("torch")
        self._tokeniser = transformers.AutoTokenizer.from_pretrained(str(directory))
        self._model = transformers.AutoModelForCausalLM.from_pretrained(str(directory))
        self._model.to(device).eval()
        self._device = device
        self._window = int(getattr(self._model.config, "max_position_embeddings", 1 << 30))

    def __call__(self, context: str, reply: str) -> float:
        """Return the natural log of the probability of the reply's tokens after the context.

        A context that does not fit into the model's window loses its beginning.
        """
        torch = self._torch
        wanted = self._tokens(reply)
        if not wanted:
            return 0.0
        room = self._window - len(wanted)
        before = (self._start() + self._tokens(context))[-room:] if room > 0 else []
        if not before:
            raise ValueError(f"a reply of {len(wanted)} tokens leaves no room for its context")
        with torch.inference_mode():
            ids = torch.tensor([before + wanted], device=self._device)
            logits_TV = self._model(ids).logits[0, len(before) - 1 : -1].float()
            log_probability_TV = torch.log_softmax(logits_TV, dim=-1)
            chosen = torch.tensor(wanted, device=self._device)[:, None]
            return float(log_probability_TV.gather(1, chosen).sum())

    def length(self, reply: str) -> int:
        """Return the number of the reply's tokens."""
        return len(self._tokens(reply))

    def _start(self) -> list[int]:
        token = self._tokeniser.bos_token_id
        return [] if token is None else [int(token)]

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokeniser(text, add_special_tokens=False)["input_ids"])

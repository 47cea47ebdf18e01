"""Log-probabilities of replies under a local Hugging Face checkpoint, for metrics such as R-EMID.

Requires torch and transformers, which are imported when a checkpoint is opened. Context and reply
are tokenised separately, so that the reply's tokens do not depend on the context.
"""

import importlib
import importlib.util
from pathlib import Path
from typing import Any

__all__ = ["CheckpointScorer", "ScorerUnavailable"]


class ScorerUnavailable(Exception):
    """Torch or transformers is not installed, or the directory is not a checkpoint."""


class CheckpointScorer:
    """Scores replies with a causal language model; called with a context and a reply.

    Args:
        directory: A Hugging Face checkpoint with its tokenizer.
        device: Torch device of the model.

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
            raise ScorerUnavailable(f"{directory} is not a checkpoint: it has no config.json")
        transformers: Any = importlib.import_module("transformers")
        self._torch: Any = importlib.import_module("torch")
        self._tokeniser = transformers.AutoTokenizer.from_pretrained(str(directory))
        self._model = transformers.AutoModelForCausalLM.from_pretrained(str(directory))
        self._model.to(device).eval()
        self._device = device
        self._window = int(getattr(self._model.config, "max_position_embeddings", 1 << 30))

    def __call__(self, context: str, reply: str) -> float:
        """Return the natural logarithm of the reply's probability after the context.

        A context that exceeds the model's window is truncated at its beginning.

        Raises:
            ValueError: If the reply leaves no room for any context.
        """
        torch = self._torch
        reply_ids = self._tokens(reply)
        if not reply_ids:
            return 0.0
        room = self._window - len(reply_ids)
        context_ids = (self._start() + self._tokens(context))[-room:] if room > 0 else []
        if not context_ids:
            raise ValueError(f"a reply of {len(reply_ids)} tokens leaves no room for its context")
        with torch.inference_mode():
            ids = torch.tensor([context_ids + reply_ids], device=self._device)
            logits_TV = self._model(ids).logits[0, len(context_ids) - 1 : -1].float()
            log_probability_TV = torch.log_softmax(logits_TV, dim=-1)
            targets = torch.tensor(reply_ids, device=self._device)[:, None]
            return float(log_probability_TV.gather(1, targets).sum())

    def length(self, reply: str) -> int:
        """Return the number of the reply's tokens."""
        return len(self._tokens(reply))

    def _start(self) -> list[int]:
        token = self._tokeniser.bos_token_id
        return [] if token is None else [int(token)]

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokeniser(text, add_special_tokens=False)["input_ids"])

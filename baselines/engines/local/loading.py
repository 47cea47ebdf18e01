"""Loads and validates checkpoint directories, with a one-line error for unusable ones."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.engines.errors import EngineMissing
from hexathlon.tasks.validation import reason

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "check_files",
    "load_checkpoint",
    "load_tokenizer",
    "quiet",
    "require_torch",
]

_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tokenizer_config.json")


class CheckpointError(Exception):
    """A directory is not a usable checkpoint; the message says what is missing."""


class Checkpoint(NamedTuple):
    """A model with its tokenizer."""

    model: Any
    """A Hugging Face causal language model in evaluation mode."""

    tokenizer: Any
    """A Hugging Face tokenizer with a chat template."""

    context: int
    """Maximum number of positions."""


def require_torch() -> None:
    """Check that torch and transformers are installed.

    Raises:
        EngineMissing: If one is missing; the message says what to install.
    """
    import importlib.util

    missing = [name for name in ("torch", "transformers") if not importlib.util.find_spec(name)]
    if missing:
        raise EngineMissing(
            f"local checkpoints need {' and '.join(missing)}: pip install 'hexathlon[train]'"
        )


def _checked(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        raise CheckpointError(f"{path} is not a directory: expected a Hugging Face checkpoint")
    config = path / "config.json"
    if not config.is_file():
        raise CheckpointError(f"{path} has no config.json: expected a Hugging Face checkpoint")
    try:
        read = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"cannot read {config}: {reason(error)}; copy it again") from None
    if not isinstance(read, dict) or not isinstance(read.get("model_type"), str):
        raise CheckpointError(f"{config} has no model_type: expected a Hugging Face checkpoint")
    return read


def check_files(path: Path) -> None:
    """Check a checkpoint's files without PyTorch and without reading its weights.

    Raises:
        CheckpointError: If a file is missing, incomplete or from another checkpoint.
    """
    config = _checked(path)
    if not any((path / name).is_file() for name in _TOKENIZERS):
        raise CheckpointError(f"{path} has no tokenizer: expected {' or '.join(_TOKENIZERS)}")
    weights = sorted(path.glob("*.safetensors"))
    if not weights and not any(path.glob("*.bin")):
        raise CheckpointError(f"{path} has no weights: expected *.safetensors or *.bin")
    for file in weights:
        _check_weights(file)
    _check_vocabulary(path, config.get("vocab_size"))


def _check_weights(file: Path) -> None:
    """Compare a file's size with its header: eight bytes of length, JSON, then the tensors."""
    size = file.stat().st_size
    try:
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(8), "little")
            header = json.loads(opened.read(length)) if 0 < length <= size - 8 else {}
        ends = [row["data_offsets"][1] for name, row in header.items() if name != "__metadata__"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        ends = []
    if not ends or size != 8 + length + max(ends):
        raise CheckpointError(f"{file} is not a complete safetensors file; copy it again")


def _check_vocabulary(path: Path, known: Any) -> None:
    """Compare the tokenizer's largest id with the model's vocabulary."""
    try:
        model = json.loads((path / "tokenizer.json").read_bytes())
        ids = [*model["model"]["vocab"].values(), *(token["id"] for token in model["added_tokens"])]
        largest = max(ids)
    except OSError:
        return  # another tokenizer format, which transformers checks
    except (ValueError, LookupError, TypeError, AttributeError):
        return  # possibly another version of the format, which transformers checks
    if isinstance(known, int) and largest >= known:
        raise CheckpointError(
            f"the tokenizer of {path} has {largest + 1} tokens and the model only {known}; "
            "they are not from the same checkpoint"
        )


def load_tokenizer(path: Path) -> Any:
    """Return a checkpoint's tokenizer.

    Raises:
        CheckpointError: If it is missing, cannot be read, or has no chat template.
    """
    from transformers import AutoTokenizer

    _checked(path)
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(path), local_files_only=True)
    except Exception as error:
        first = str(error).strip().splitlines()[0]
        raise CheckpointError(f"the tokenizer of {path} cannot be read: {first}") from None
    if not tokenizer.chat_template:
        raise CheckpointError(
            f"the tokenizer of {path} has no chat template; add chat_template.jinja"
        )
    return tokenizer


def load_checkpoint(path: Path, *, dtype: str = "auto", device: str = "auto") -> Checkpoint:
    """Load a model and its tokenizer.

    Args:
        path: A Hugging Face checkpoint directory; nothing is ever downloaded.
        dtype: float32, bfloat16, float16 or auto: float32 on a CPU, the checkpoint's on a GPU.
        device: cpu, cuda, cuda:N or auto: a GPU if there is one.

    Raises:
        CheckpointError: If the directory is incomplete or damaged, or its parts do not match.
        EngineMissing: If torch or transformers is not installed.
    """
    require_torch()
    check_files(path)
    import torch
    from transformers import AutoModelForCausalLM

    from hexathlon.baselines.engines.local.front import load_front

    quiet()
    tokenizer = load_tokenizer(path)
    place = device if device != "auto" else ("cuda" if torch.cuda.is_available() else "cpu")
    kind = ("float32" if place == "cpu" else "auto") if dtype == "auto" else dtype
    read: Any = AutoModelForCausalLM.from_pretrained  # its types ignore the loading info
    try:
        model, loaded = read(
            str(path),
            output_loading_info=True,
            local_files_only=True,
            dtype=kind if kind == "auto" else getattr(torch, kind),
            attn_implementation="sdpa",
        )
    except Exception as error:
        first = str(error).strip().splitlines()[0]
        raise CheckpointError(f"the weights of {path} cannot be read: {first}") from None
    if lost := sorted(loaded["missing_keys"]):
        raise CheckpointError(
            f"{path} lacks {len(lost)} of its model's weights, such as {lost[0]}: it is damaged, "
            "or of another architecture than its config.json"
        )
    load_front(model, path)
    _fits(path, model, tokenizer)
    context = int(getattr(model.config, "max_position_embeddings", 0) or 4096)
    return Checkpoint(model.to(place).eval(), tokenizer, context)


def quiet() -> None:
    """Disable progress bars of transformers, and its report of weights that it does not know."""
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]


def _fits(path: Path, model: Any, tokenizer: Any) -> None:
    import torch

    vocabulary = model.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > vocabulary:
        raise CheckpointError(
            f"the tokenizer of {path} has {len(tokenizer)} tokens and the model only {vocabulary}; "
            "they are not from the same checkpoint"
        )
    for name, weight in model.named_parameters():
        if not bool(torch.isfinite(weight).all()):
            raise CheckpointError(f"{name} of {path} has values that are not finite")

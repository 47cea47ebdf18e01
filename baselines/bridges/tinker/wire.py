"""Messages of the Tinker API that are protocol buffers: requests of training, results of both.

The schema is that of the package `tinker`, 0.38.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.tokens.requests import TokenReply

__all__ = ["TrainingRequest", "WireDatum", "read_training", "write_outputs", "write_samples"]

WireFloats = NDArray[np.float32]


class WireDatum(NamedTuple):
    """One example: tokens, and arrays of the same length for the loss."""

    ids: list[int]
    targets: list[int]
    inputs: dict[str, WireFloats]


class TrainingRequest(NamedTuple):
    """A request for a forward pass, usually with a backward pass."""

    model: str
    loss: str
    config: Mapping[str, float]
    backward: bool
    data: list[WireDatum]


def read_training(body: bytes) -> TrainingRequest:
    """Parse a request for a forward and a backward pass.

    Raises:
        BadRequest: If it is malformed, or has images or sparse tensors.
    """
    from google.protobuf.message import DecodeError
    from tinker.proto import tinker_public_pb2 as schema

    message = schema.ForwardBackwardRequest()
    try:
        message.ParseFromString(body)
        data = [_datum(row) for row in message.data]
    except (DecodeError, KeyError, ValueError) as error:
        raise BadRequest(f"not a training request: {error}") from None
    config = {
        name: value.number
        for name, value in message.loss_fn_config_v2.items()
        if value.HasField("number")
    } or dict(message.loss_fn_config)
    backward = not message.forward_only
    return TrainingRequest(message.model_id, message.loss_fn, config, backward, data)


def _datum(row: Any) -> WireDatum:
    ids: list[int] = []
    for chunk in row.model_input:
        if not chunk.HasField("encoded_text"):
            raise ValueError("only text can be trained on")
        ids += np.frombuffer(chunk.encoded_text.tokens, np.int32).tolist()
    arrays = {name: _array(tensor) for name, tensor in row.loss_fn_inputs.items()}
    targets = arrays.pop("target_tokens")
    inputs = {name: np.asarray(value, np.float32) for name, value in arrays.items()}
    inputs.setdefault("weights", np.ones(len(targets), np.float32))
    lengths = {len(targets), *(len(value) for value in inputs.values())}
    if targets.ndim != 1 or lengths != {len(ids)}:
        raise ValueError(f"expected {len(ids)} values in every input, got {sorted(lengths)}")
    return WireDatum(ids, targets.astype(np.int64).tolist(), inputs)


def _array(tensor: Any) -> NDArray[Any]:
    if tensor.HasField("sparse_csr"):
        raise ValueError("sparse tensors are not supported")
    kinds: dict[int, Any] = {1: np.float32, 2: np.int64, 3: np.int32}
    flat = np.frombuffer(tensor.dense, kinds[tensor.dtype])
    return flat.reshape(tuple(tensor.shape)) if tensor.shape else flat


def write_outputs(
    log_probabilities: Sequence[WireFloats],
    losses: Sequence[WireFloats],
    metrics: Mapping[str, float],
) -> bytes:
    """Return the result of a training request, with one row of each array per datum."""
    from tinker.proto import tinker_public_pb2 as schema

    record = schema.ArrayRecord(type_tag="ArrayRecord", num_datums=len(log_probabilities))
    for name, rows in (("logprobs", log_probabilities), ("elementwise_loss", losses)):
        offsets = np.cumsum([0, *(4 * len(row) for row in rows)], dtype=np.int64)
        field = record.fields[name]
        field.data = b"".join(np.asarray(row, np.float32).tobytes() for row in rows)
        field.offsets = offsets.tobytes()
        field.dtype = schema.DTYPE_FLOAT32
    output = schema.ForwardBackwardOutput(loss_fn_output_type="ArrayRecord", metrics=metrics)
    if log_probabilities:
        output.loss_fn_outputs.append(record)
    data: bytes = output.SerializeToString()
    return data


def write_samples(replies: Sequence[TokenReply], prompt: Sequence[float] | None) -> bytes:
    """Return the result of a sampling request; `prompt` has its tokens except the first."""
    from tinker.proto import tinker_public_pb2 as schema

    response = schema.SampleResponse()
    for reply in replies:
        sequence = response.sequences.add()
        stopped = reply.finish == "stop"
        sequence.stop_reason = schema.STOP_REASON_STOP if stopped else schema.STOP_REASON_LENGTH
        sequence.tokens = np.asarray(reply.ids, np.int32).tobytes()
        sequence.logprobs = np.asarray(reply.log_probabilities, np.float32).tobytes()
    if prompt is not None:
        response.prompt_logprobs = np.asarray([math.nan, *prompt], np.float32).tobytes()
    data: bytes = response.SerializeToString()
    return data

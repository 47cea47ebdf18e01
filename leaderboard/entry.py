"""The submission file: what a submitter states about a run, beside the run itself.

The types here are the schema: ``submission.schema.json`` on every site is generated from them.
What the records say is not repeated on trust: `hexathlon.leaderboard.intake` recomputes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from hexathlon.evaluators.records.canonical import canonical_bytes
from hexathlon.tasks.validation import explain

__all__ = ["EntryError", "RunCard", "SubmissionFile", "json_schema", "parse_submission"]

MAX_BYTES = 1_000_000

_Line = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\r\n\x00]*$")]
_Text = Annotated[str, StringConstraints(max_length=4_000)]
_Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Link = Annotated[str, StringConstraints(max_length=400, pattern=r"^(https://[^\s\"'<>]+)?$")]
_Day = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]


class EntryError(Exception):
    """A submission file that does not have the form of one."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class StatedPart(_Strict):
    """The model, the agent around it, or the scaffold around both."""

    name: _Line
    version: _Line = ""
    link: _Link = ""


class StatedModel(StatedPart):
    """The model that produced the actions."""

    organisation: _Line = ""
    open_weights: bool | None = None
    """None if the submitter does not say."""
    weights_hash: _Digest | None = None


class TrainingData(_Strict):
    """What the model or its agent was trained or tuned on."""

    benchmark: Literal["none", "train", "dev", "test", "unknown"]
    """The split of this benchmark that was used in any way, the strongest first to be named."""
    sources: tuple[_Line, ...] = ()
    """Names of other task collections used in training."""
    note: _Text = ""


class RunCard(_Strict):
    """Circumstances of the run, from its plan and its records."""

    code_revision: _Line
    dirty: bool
    """Whether the code had uncommitted changes."""
    packages: dict[str, _Line]
    hardware: dict[str, int | float | _Line | None]
    sandboxes: dict[_Line, int]
    """Trials by the sandbox level that was used."""
    limits: dict[str, int | float | None]
    seeds: int
    trials_per_task: int
    template_hash: _Line = ""
    """Of the chat template; empty for remote models."""
    tokenizer_hash: _Line = ""
    prices: _Line = ""
    """Version of the price table."""
    suite_version: _Line
    retried: int
    """Attempts that ended in infrastructure failures and were repeated."""
    judges_audited: bool | None = None
    """None without judged files."""


class StatedResult(_Strict):
    """The score of one event, recomputed by whoever accepts the submission."""

    env: _Line
    version: _Line
    tasks: int
    trials: int
    unscored: int
    infra: int
    score: float | None
    low: float | None
    high: float | None


class RunFile(_Strict):
    """A file of the run, by its path in the archive."""

    path: Annotated[str, StringConstraints(pattern=r"^(?:[a-z]+/)?[A-Za-z0-9._-]{1,120}$")]
    size: int
    sha256: _Digest


class SubmissionFile(_Strict):
    """A submission; its canonical JSON is what signatures cover."""

    schema_: Literal["hexathlon.submission/1"] = Field("hexathlon.submission/1", alias="schema")
    date: _Day
    organisation: _Line
    contact: _Line = ""
    link: _Link = ""
    model: StatedModel
    agent: StatedPart
    scaffold: StatedPart | None = None
    training_data: TrainingData
    tuned: bool
    """Whether prompts or settings were tuned on tasks of this benchmark."""
    attempts: Annotated[int, Field(ge=1)]
    """Runs of this or a similar plan that the submitter made before choosing this one."""
    note: _Text = ""
    card: RunCard
    plan_hash: _Digest
    head: _Digest
    """Hash of the last record."""
    records: int
    results: tuple[StatedResult, ...]
    files: tuple[RunFile, ...]

    def canonical(self) -> bytes:
        """Return the bytes that are stored and signed."""
        return canonical_bytes(self.model_dump(mode="json", by_alias=True)) + b"\n"


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of submission files."""
    schema = SubmissionFile.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def parse_submission(data: bytes) -> SubmissionFile:
    """Return the submission of a file's bytes.

    Raises:
        EntryError: If it has another form, or is not in canonical form; the message names the
            first faulty field.
    """
    if len(data) > MAX_BYTES:
        raise EntryError(f"submission.json has {len(data):,} bytes, more than {MAX_BYTES:,}")
    try:
        value = json.loads(data)
        if not isinstance(value, Mapping):
            raise EntryError(f"submission.json: expected an object, got {type(value).__name__}")
        # Through JSON, so that lists become tuples and nothing else is converted.
        submission = SubmissionFile.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise EntryError(f"submission.json: {explain(error, most=1)}") from None
    except (ValueError, RecursionError) as error:
        raise EntryError(f"submission.json is not JSON: {error}") from None
    if submission.canonical() != data:
        raise EntryError("submission.json is not in canonical form: `submit prepare` writes it")
    return submission

"""Immutable records whose errors are sentences: what field, what came, what was expected."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from hexathlon.tasks.errors import InvalidRecord

__all__ = ["StrictRecord", "explained"]

_SENTENCES = {
    "missing": "is required",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "needs at least {min_length} item(s)",
    "string_pattern_mismatch": "must match {pattern}",
    "literal_error": "must be one of {expected}",
    "finite_number": "must be a finite number",
}
"""Sentence per pydantic error type, filled from the error's context."""


class StrictRecord(BaseModel):
    """An immutable record that rejects unknown fields.

    Raises:
        InvalidRecord: If a field is missing, unknown or invalid.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise InvalidRecord(explained(type(self), error)) from None


def explained(record: type[BaseModel], error: ValidationError) -> str:
    """Return a validation error as sentences, one per field."""
    return "; ".join(_sentence(record, fault) for fault in error.errors(include_url=False))


def _sentence(record: type[BaseModel], fault: Any) -> str:
    place = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{record.__name__} has no field {place!r}; it has {', '.join(record.model_fields)}"
    plain = _SENTENCES.get(fault["type"])
    if plain is not None:
        problem = plain.format(**fault.get("ctx", {}))
    else:
        problem = fault["msg"].replace("Input should be", "must be").replace("Value error, ", "")
    came = "" if fault["type"] == "missing" else f", got {fault['input']!r:.80}"
    return f"{record.__name__}.{place} {problem}{came}"

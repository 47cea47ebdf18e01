"""The base of all relations, which expressions and the nodes of a program both name."""

from dataclasses import dataclass

__all__ = ["Relation"]


@dataclass(frozen=True, slots=True)
class Relation:
    """A bag of rows with named columns."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        raise NotImplementedError(f"{type(self).__name__} must name its columns")

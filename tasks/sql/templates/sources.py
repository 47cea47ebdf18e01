"""A use of a table in a program: the rows that count and their canonical values."""

from dataclasses import dataclass

from hexathlon.tasks.sql.dirt import MISSING, Dirt
from hexathlon.tasks.sql.programs.expressions import (
    Binary,
    Case,
    Compare,
    Expression,
    FunctionCall,
    Literal,
    Misreadable,
    Ref,
)
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Aggregate, Filter, GroupBy, Match, Scan
from hexathlon.tasks.sql.schema import Column, Table

__all__ = ["Source", "cleaned"]


EVERY_ROW = Compare("=", Literal(1), Literal(1))


@dataclass(frozen=True, slots=True)
class Source:
    """A table under an alias."""

    table: Table
    alias: str

    def scan(self) -> Scan:
        """Return all rows of the table."""
        return Scan(self.table.name, self.alias, tuple(c.name for c in self.table.columns))

    def rows(self, inner: str) -> Relation:
        """Return the rows that count: not deleted, first among duplicates; `inner` is an alias."""
        relation: Relation = self.scan()
        table = self.table
        if table.natural_key:
            first = f"{inner}_first"
            twins = Scan(table.name, inner, (table.key, table.natural_key))
            key = Ref(f"{inner}.{table.key}")
            kept = GroupBy(
                twins, (f"{inner}.{table.natural_key}",), (Aggregate(first, "min", key),)
            )
            relation = Match(relation, kept, ((f"{self.alias}.{table.key}", first),))
        if table.soft_delete:
            mark = Ref(f"{self.alias}.{table.soft_delete}")
            counted = Compare("=", mark, Literal(0))
            relation = Filter(relation, Misreadable(counted, EVERY_ROW, "count_deleted"))
        return relation

    def value(self, column: Column | str) -> Expression:
        """Return the canonical value of a column."""
        chosen = self.table.column(column) if isinstance(column, str) else column
        raw = Ref(f"{self.alias}.{chosen.name}")
        if chosen.dirt is None or chosen.dirt.kind == "orphans":
            return raw
        return Misreadable(cleaned(chosen.dirt, raw, self.alias), raw, "skip_cleaning")


def cleaned(dirt: Dirt, raw: Expression, alias: str) -> Expression:
    """Return the canonical value of a dirty column."""
    match dirt.kind:
        case "case_padding":
            return FunctionCall("lower", (FunctionCall("trim", (raw,)),))
        case "codes":
            return _mapped(FunctionCall("lower", (FunctionCall("trim", (raw,)),)), dirt.mapping)
        case "two_date_formats":
            year, month, day = (_part(raw, start, size) for start, size in ((7, 4), (4, 2), (1, 2)))
            dash = Literal("-")
            iso = FunctionCall(
                "concat",
                (FunctionCall("concat", (year, dash)), FunctionCall("concat", (month, dash))),
            )
            slashed = Compare("=", _part(raw, 3, 1), Literal("/"))
            return Case(((slashed, FunctionCall("concat", (iso, day))),), raw)
        case "currency_text":
            bare = FunctionCall("replace", (raw, Literal("$"), Literal("")))
            return FunctionCall(
                "real", (FunctionCall("replace", (bare, Literal(","), Literal(""))),)
            )
        case "missing_spellings":
            value = raw
            for spelling in MISSING:
                value = FunctionCall("nullif", (value, Literal(spelling)))
            return value
        case "row_units":
            return Binary("*", raw, _mapped(Ref(f"{alias}.{dirt.partner}"), dirt.mapping))
        case _:
            return raw


def _part(raw: Expression, start: int, size: int) -> Expression:
    return FunctionCall("substr", (raw, Literal(start), Literal(size)))


def _mapped(subject: Expression, mapping: tuple[tuple[str, str | int], ...]) -> Expression:
    return Case(tuple((Compare("=", subject, Literal(k)), Literal(v)) for k, v in mapping))

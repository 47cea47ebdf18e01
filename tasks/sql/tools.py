"""Tool schemas of the SQL event, shared by all of its task sources."""

from typing import Any, Literal

from hexathlon.tasks.task import ToolSchema

__all__ = ["IMPOSSIBLE_REASONS", "SubmitKind", "sql_tools"]

SubmitKind = Literal["sql", "answer", "database", "script", "ticket"]
"""The kind of submission: a query, a list of values, the database in its final state, a script of
changes, or a ticket of a shift: the database as it is then and, if asked for, values."""

IMPOSSIBLE_REASONS = ("missing_data", "missing_value", "contradiction", "not_permitted")

_TEXT = {"type": "string"}
_NAME = {"type": "string", "maxLength": 200}
_SQL = {"type": "string", "maxLength": 20_000}


def _schema(name: str, description: str, /, **properties: dict[str, Any]) -> ToolSchema:
    required = [key for key, value in properties.items() if "default" not in value]
    parameters = {"type": "object", "properties": properties, "required": required}
    return ToolSchema(name=name, description=description, parameters=parameters)


_LOOK = (
    _schema("list_tables", "List the tables of the database with their numbers of rows."),
    _schema(
        "search_tables", "Find tables and columns whose name contains a word of the query.",
        query=_NAME,
    ),
    _schema("describe_table", "Show the columns, keys and references of a table.", table=_NAME),
    _schema(
        "sample_rows", "Show the first rows of a table.", table=_NAME,
        limit={"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
    ),
)  # fmt: skip
_DOCUMENTS = (
    _schema("list_documents", "List the documents that come with the database."),
    _schema("read_document", "Read one of the documents.", name=_NAME),
)
_QUERY = {
    "read": "Run one SELECT statement and see its rows; at most the first 50 are shown.",
    "write": "Run one SQL statement. Changes take effect in your own copy of the database.",
}
_ASK = _schema(
    "ask_user", "Ask the person who gave you the task. They lose patience with useless questions.",
    question={"type": "string", "maxLength": 1_000},
)  # fmt: skip
_SUBMIT = {
    "sql": _schema(
        "submit",
        "Hand in the SELECT statement that answers the task, and end. It is run again on this "
        "database and on others of the same structure, so it must not rely on what you saw.",
        sql=_SQL,
    ),
    "answer": _schema(
        "submit", "Hand in the answer as a list of values, each as text, and end.",
        answer={"type": "array", "items": {"type": "string", "maxLength": 1_000}, "maxItems": 500},
    ),
    "script": _schema(
        "submit",
        "Hand in the SQL statements that make the change, separated by semicolons, and end. They "
        "are run on this database as it was at the start and on others of the same structure with "
        "other rows, so they must not rely on what you saw.",
        script=_SQL,
    ),
    "ticket": _schema(
        "submit",
        "Hand in the ticket: the database as it is now and, if the ticket asks for values, these "
        "values as text. The next ticket follows. Open transactions are rolled back.",
        answer={
            "type": "array", "items": {"type": "string", "maxLength": 1_000}, "maxItems": 100,
            "default": [],
        },
    ),
    "database": _schema(
        "submit", "Hand in the database as you have left it, and end. Open transactions are lost."
    ),
}  # fmt: skip
_REASONS = (
    "Reasons: missing_data (rows or values that it "
    "needs were never recorded, or are lost), missing_value (a definition or setting that it rests "
    "on was withdrawn or has no value at present), contradiction (two rules in force disagree, and "
    "none has precedence), not_permitted (a rule or entry forbids it). Evidence: just the number "
    "of the record, notice or decision that stands in the way."
)


def _impossible(what: str) -> ToolSchema:
    return _schema(
        "submit_impossible", f"{what} {_REASONS}",
        reason={"type": "string", "enum": list(IMPOSSIBLE_REASONS)}, evidence=_NAME,
    )  # fmt: skip


_IMPOSSIBLE = _impossible("Say that the task cannot be done, and end.")
_REFUSED = _impossible("Say that the ticket cannot be carried out; the next one follows.")


def sql_tools(
    submit: SubmitKind = "sql",
    *,
    documents: bool = False,
    user: bool = False,
    impossible: bool = True,
) -> tuple[ToolSchema, ...]:
    """Return the tools of one task.

    Args:
        submit: The kind of submission; all but `sql` and `answer` allow `run_query` to write.
        documents: Whether documents accompany the database.
        user: Whether there is a user to ask.
        impossible: Whether "this cannot be done" is an accepted answer; generated tasks always
            offer it, so that its presence gives nothing away.
    """
    mode = "write" if submit in ("database", "script", "ticket") else "read"
    return (
        *_LOOK,
        *(_DOCUMENTS if documents else ()),
        _schema("run_query", _QUERY[mode], sql=_SQL),
        *((_ASK,) if user else ()),
        _SUBMIT[submit],
        *((_REFUSED if submit == "ticket" else _IMPOSSIBLE,) if impossible else ()),
    )

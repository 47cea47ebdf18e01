"""`hexathlon/SQL-v1`: explore a database, run statements, ask, and submit.

The agent works on its own view of the visible database. Expected answers are in the task's checks
only, and the grader runs the submission on its own pristine copies.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import BackendMissing, ToolError
from hexathlon.envs.sql.documents import DocumentShelf
from hexathlon.envs.sql.text import found_text, result_text, table_text, tables_text, work_text
from hexathlon.envs.tools import tool
from hexathlon.envs.users import SimulatedUser
from hexathlon.evaluators.sql.dbbench import tables_hash
from hexathlon.evaluators.sql.images import describe_content, image_rows
from hexathlon.evaluators.sql.shifts import describe_report
from hexathlon.tasks.sql.world.backends.base import (
    Database,
    DatabaseSnapshot,
    QueryLimits,
    QueryResult,
    SqlError,
    TableCatalogue,
)
from hexathlon.tasks.sql.world.backends.choice import MissingBackend, open_database, writes_of
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.task import Task

__all__ = ["SQLEnv", "make_vector"]

_LIMITS = QueryLimits()
_NAMES = {"sqlite": "SQLite", "duckdb": "DuckDB", "postgresql": "PostgreSQL", "mysql": "MySQL"}
_WORK = 100
"""How many times its budget of work a statement may take while the agent tries it out."""
_NOTHING: dict[str, Any] = {
    "kind": "none", "sql": None, "answer": None, "reason": None, "evidence": None,
}  # fmt: skip


class _World(NamedTuple):
    """The event's part of a snapshot."""

    database: DatabaseSnapshot
    handed_in: dict[str, Any]
    user: dict[str, Any] | None
    user_seed: int
    asked: tuple[str, ...]
    reports: tuple[dict[str, Any], ...] = ()


class SQLEnv(Environment):
    """Questions about databases, and changes to them.

    Args:
        backend: Backend of the agent's statements: None for the task's choice (SQLite), else
            `sqlite`, `duckdb`, `postgresql`, a SQLAlchemy URL, or `drawn`: tasks of several
            dialects on the one that their seed draws, and others on SQLite. Shifts always run on
            SQLite, whose triggers are part of them, and so do budgets of work, which count its
            steps.
        **kwargs: As for every environment.
    """

    family: ClassVar[str] = "sql"
    version: ClassVar[str] = "1"
    default_taskset: ClassVar[str] = "sql"
    system_prompt: ClassVar[str] = (
        "You work on a database through tools. Look at the tables and their rows before you "
        "write a statement: names can mislead and values can be untidy. Reply with one tool call "
        "at a time. When you are sure, hand in with submit."
    )

    def __init__(self, *, backend: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.backend = backend
        self._database: Database | None = None
        self._opened_for: Task | None = None
        self._shelf = DocumentShelf({})
        self._user: SimulatedUser | None = None
        self._user_seed = 0
        self._handed_in = _NOTHING
        self._asked: tuple[str, ...] = ()
        self._reports: tuple[dict[str, Any], ...] = ()
        self._query_limits = _LIMITS

    def on_reset(self, task: Task) -> str:
        """Open the visible database and create the user, if the task has one."""
        self.close()
        self._prepare(task)
        self._handed_in, self._asked, self._reports = _NOTHING, (), ()
        agenda = task.params.get("user")
        self._user_seed = int(self.np_random.integers(1 << 31)) if agenda else 0
        self._user = SimulatedUser(agenda, self._user_seed) if agenda else None
        dialect = self._open().dialect
        if dialect == "sqlite" and "dialects" not in task.params:
            return task.instruction
        return f"{task.instruction}\n\nThe database runs on {_NAMES[dialect]}."

    @tool
    def list_tables(self) -> str:
        """List the tables."""
        catalogue = self._catalogue()
        return tables_text(catalogue, {name: self._count(name) for name in catalogue})

    @tool
    def search_tables(self, query: str) -> str:
        """Find tables and columns by name."""
        return found_text(self._catalogue(), query)

    @tool
    def describe_table(self, table: str) -> str:
        """Show a table's columns."""
        name = self._known(table)
        return table_text(self._catalogue()[name], self._count(name))

    @tool
    def sample_rows(self, table: str, limit: int = 5) -> str:
        """Show a table's first rows."""
        name = self._known(table)
        quoted = '"' + name.replace('"', '""') + '"'
        return result_text(self._run_sql(f"SELECT * FROM {quoted} LIMIT {int(limit)}"))

    @tool
    def list_documents(self) -> str:
        """List the documents."""
        return self._shelf.listing()

    @tool
    def read_document(self, name: str) -> str:
        """Read a document."""
        text = self._shelf.text(name)
        if text is None:
            raise ToolError(f"there is no document {name[:80]!r}.\n{self._shelf.listing()}")
        return text

    @tool
    def run_query(self, sql: str) -> str:
        """Run one statement."""
        result = self._run_sql(sql)
        budget = self.task.params.get("steps")
        return result_text(result) + (work_text(result.steps, budget) if budget else "")

    @tool
    def ask_user(self, question: str) -> str:
        """Ask the simulated user."""
        if self._user is None:
            raise ToolError("there is nobody to ask in this task.")
        if self._user.left:
            raise ToolError("the user has left and does not answer.")
        reply = self._user.reply(question)
        self._asked = tuple(dict.fromkeys((*self._asked, *reply.revealed)))
        return reply.text

    @tool
    def submit(
        self, sql: str | None = None, answer: list[str] | None = None, script: str | None = None
    ) -> str:
        """Submit a query, an answer, a script or the database, and end or get the next ticket."""
        given = {"sql": sql, "answer": answer, "script": script}
        kind = next((name for name, value in given.items() if value is not None), "database")
        text = script if kind == "script" else sql
        return self._hand_in({**_NOTHING, "kind": kind, "sql": text, "answer": answer})

    @tool
    def submit_impossible(self, reason: str, evidence: str) -> str:
        """Declare the task or ticket impossible, and end or get the next ticket."""
        return self._hand_in(
            {**_NOTHING, "kind": "impossible", "reason": reason, "evidence": evidence}
        )

    def final_state(self) -> dict[str, Any]:
        """Return the submission, its dialect, and the database if it is writable.

        For a shift, also what was handed in for each ticket, with the database at that time.
        """
        state = {
            **self._handed_in,
            "dialect": self._open().dialect,
            "asked": list(self._asked),
            "database": None,
        }
        if self._is_shift():
            return {**state, "reports": list(self._reports)}
        scripted = any(check.name == "sql_script" for check in self.task.checks)
        if writes_of(self.task.params) and not scripted:
            image = self._open().sqlite_image()
            state["database"] = describe_content(image)
            if any(check.name == "dbbench" for check in self.task.checks):
                state["row_hash"] = tables_hash(image_rows(image))
        return state

    def save(self) -> _World:
        """Return the database's state, the submission, and the user's memory."""
        user = self._user.snapshot() if self._user is not None else None
        state = self._open().snapshot()
        return _World(state, self._handed_in, user, self._user_seed, self._asked, self._reports)

    def load(self, payload: _World) -> None:
        """Restore a snapshot; a database opened for another task is replaced."""
        if self._database is None or self._opened_for is not self.task:
            self.close()
            self._prepare(self.task)
        self._open().restore(payload.database)
        self._handed_in, self._asked = payload.handed_in, payload.asked
        self._reports = payload.reports
        self._user_seed = payload.user_seed
        self._user = None
        if payload.user is not None:
            self._user = SimulatedUser(self.task.params["user"], payload.user_seed)
            self._user.restore(payload.user)

    def detach(self) -> None:
        """Leave the original's connection to the original."""
        self._database = None

    def close(self) -> None:
        """Release the database; idempotent."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _is_shift(self) -> bool:
        return "tickets" in self.task.params

    def _hand_in(self, submission: dict[str, Any]) -> str:
        """Store a submission; end the episode, or return the next ticket of a shift."""
        self._handed_in = submission
        if not self._is_shift():
            self.finish()
            return "Handed in."
        database = self._open()
        with suppress(SqlError):  # there is none to roll back unless a transaction was left open
            database.run("ROLLBACK", self._query_limits)
        described = describe_report(database.sqlite_image(), database_bytes(self.task.params))
        told = {key: submission[key] for key in ("kind", "answer", "reason", "evidence")}
        self._reports = (*self._reports, {**told, "database": described})
        following = self.task.params["tickets"]
        place = len(self._reports) - 1
        if place == len(following):
            self.finish()
            return "Handed in. That was the last ticket."
        for statement in following[place]["before"]:
            with suppress(SqlError):  # rows of the agent may stand in the way of a routine's
                database.run(statement, self._query_limits)
        text: str = following[place]["text"]
        return f"Handed in.\n\n{text}"

    def _prepare(self, task: Task) -> None:
        try:
            self._database = open_database(task.params, self._backend_of(task))
        except MissingBackend as error:
            raise BackendMissing(str(error)) from error
        self._opened_for = task
        self._shelf = DocumentShelf(task.params)
        self._query_limits = QueryLimits(seconds=self.limits.seconds_per_action)
        if "steps" in task.params:
            steps = _WORK * task.params["steps"]
            self._query_limits = replace(self._query_limits, steps=steps, exact=True)

    def _backend_of(self, task: Task) -> str | None:
        """Return the backend of a task; None for its own choice."""
        if "tickets" in task.params or "steps" in task.params:
            return None
        if self.backend == "drawn":
            return task.params.get("dialect")
        return self.backend

    def _open(self) -> Database:
        if self._database is None:
            self._prepare(self.task)
        assert self._database is not None
        return self._database

    def _run_sql(self, sql: str) -> QueryResult:
        try:
            return self._open().run(sql, self._query_limits)
        except SqlError as error:
            raise ToolError(error.text().removeprefix("Error: ")) from None

    def _catalogue(self) -> TableCatalogue:
        return self._open().catalogue()

    def _count(self, table: str) -> int:
        try:
            return self._open().count(table)
        except SqlError as error:
            raise ToolError(error.text().removeprefix("Error: ")) from None

    def _known(self, table: str) -> str:
        catalogue = self._catalogue()
        if table in catalogue:
            return table
        for name in catalogue:
            if name.lower() == table.lower():
                return name
        raise ToolError(f"there is no table {table[:80]!r}.\n{found_text(catalogue, table)}")


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of these environments; see `hexathlon.envs.vector`."""
    from hexathlon.envs.vector import make_vector as make

    return make(SQLEnv, num_envs, **kwargs)

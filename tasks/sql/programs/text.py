"""SQL rendering of query programs.

Nodes are collected into one SELECT as long as SQL's clause order allows; then the SELECT so far
becomes a derived table or a common table expression. A `Style` chooses among equivalent idioms, so
that one program yields texts of different shape.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal as Choice

from hexathlon.tasks.sql.programs.expressions import Expression, Or, Ref, conjuncts, meant
from hexathlon.tasks.sql.programs.phrases import SqlDialect, expression_sql, ordering, quoted
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import (
    Aggregate,
    Combine,
    Distinct,
    Extend,
    Filter,
    GroupBy,
    Join,
    Limit,
    Match,
    OrderBy,
    Project,
    Scan,
    Window,
)
from hexathlon.tasks.sql.programs.walk import names_read
from hexathlon.tasks.sql.programs.window_text import over, per_row

__all__ = ["GOLD", "OTHER", "Style", "sql_text"]


@dataclass(frozen=True, slots=True)
class Style:
    """A choice among equivalent idioms."""

    ctes: bool = False
    """Whether intermediate results are common table expressions rather than derived tables."""
    match: Choice["exists", "in", "join"] = "exists"
    """Idiom of semi- and anti-joins."""
    condition: Choice["case", "filter"] = "case"
    """Idiom of conditional aggregates."""
    having: bool = True
    """Whether group conditions are in HAVING rather than in an outer WHERE."""
    windows: Choice["over", "correlated"] = "over"
    """Window functions, or correlated sub-queries at quadratic cost."""
    distinct: Choice["distinct", "group"] = "distinct"
    staged: bool = False
    """Whether rows are filtered in a separate step, before groups and output columns."""


GOLD = Style(match="in")
OTHER = Style(
    ctes=True, match="join", condition="filter", having=False, distinct="group", staged=True
)

_SETS = {
    "union": "UNION",
    "union_all": "UNION ALL",
    "intersect": "INTERSECT",
    "except": "EXCEPT",
}


def sql_text(program: Relation, style: Style = GOLD, dialect: SqlDialect = "sqlite") -> str:
    """Render a program as one SQL query."""
    writer = _Writer(style, dialect)
    body = writer.query(program)
    if not writer.steps:
        return body
    steps = ",\n".join(f"{name} AS (\n{_indented(text)}\n)" for name, text in writer.steps)
    return f"WITH {steps}\n{body}"


@dataclass(slots=True)
class _Block:
    """A SELECT under construction."""

    source: str
    scope: dict[str, str]
    where: list[str] = field(default_factory=list)
    group: list[str] = field(default_factory=list)
    having: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    limit: str = ""
    stage: int = 0
    """0: rows; 1: grouped; 2: windowed; 3: distinct, ordered, limited or a set operation."""
    windows: set[str] = field(default_factory=set)
    fixed: tuple[str, ...] = ()
    """Columns that the SELECT must list exactly, after DISTINCT or a set operation."""
    distinct: bool = False
    raw: str = ""
    single: bool = False
    """Whether it is one stored or derived table, with nothing computed."""


class _Writer:
    def __init__(self, style: Style, dialect: SqlDialect) -> None:
        self.style = style
        self.dialect = dialect
        self.steps: list[tuple[str, str]] = []
        self._count = 0

    def query(self, node: Relation) -> str:
        """Return the text of a complete query."""
        return self._select(self._block(node, frozenset(node.columns)), node.columns)

    def _expression(self, expression: Expression, block: _Block) -> str:
        return expression_sql(expression, block.scope, self.dialect, self.query)

    # -- assembling ------------------------------------------------------------------------

    def _select(self, block: _Block, columns: Iterable[str]) -> str:
        tail = ([f"ORDER BY {', '.join(block.order)}"] if block.order else []) + (
            [block.limit] if block.limit else []
        )
        if block.raw:
            return "\n".join([block.raw, *tail])
        listed = block.fixed or tuple(columns)
        items = ", ".join(_item(block.scope[name], _output(name)) for name in listed) or "1"
        lines = [f"SELECT {'DISTINCT ' if block.distinct else ''}{items}", f"FROM {block.source}"]
        if block.where:
            lines.append(f"WHERE {' AND '.join(block.where)}")
        if block.group:
            lines.append(f"GROUP BY {', '.join(block.group)}")
        if block.having:
            lines.append(f"HAVING {' AND '.join(block.having)}")
        return "\n".join(lines + tail)

    def _wrap(
        self, block: _Block, node: Relation, needed: frozenset[str], cte: bool = False
    ) -> _Block:
        """Close a SELECT and start another that reads from it."""
        columns = block.fixed or tuple(name for name in node.columns if name in needed)
        text = self._select(block, columns)
        self._count += 1
        if cte or self.style.ctes:
            alias = f"step_{self._count}"
            self.steps.append((alias, text))
            source = alias
        else:
            alias = f"part_{self._count}"
            source = f"(\n{_indented(text)}\n) AS {alias}"
        scope = {name: f"{alias}.{_output(name)}" for name in columns}
        return _Block(source, scope, single=True)

    def _open(self, node: Relation, needed: frozenset[str], stage: int) -> _Block:
        """Return the block of a node, wrapped if it is past this stage."""
        block = self._block(node, needed)
        return block if block.stage <= stage else self._wrap(block, node, needed)

    # -- nodes -----------------------------------------------------------------------------

    def _block(self, node: Relation, needed: frozenset[str]) -> _Block:
        match node:
            case Scan(table, alias, names):
                scope = {f"{alias}.{name}": f"{alias}.{quoted(name)}" for name in names}
                return _Block(f"{quoted(table)} AS {alias}", scope, single=True)
            case Filter():
                return self._filter(node, needed)
            case Join():
                return self._join(node, needed)
            case Match():
                return self._match(node, needed)
            case Extend():
                return self._extend(node, needed)
            case GroupBy():
                return self._group(node)
            case Window():
                return self._window(node, needed)
            case Combine():
                return self._combine(node)
            case Project():
                return self._project(node)
            case Distinct():
                return self._distinct(node)
            case OrderBy(source, keys):
                block = self._block(source, needed | {name for name, _ in keys})
                if block.limit or block.order:
                    block = self._wrap(block, source, needed | {name for name, _ in keys})
                block.order = [
                    ordering(block.scope[name], down, self.dialect) for name, down in keys
                ]
                block.stage = 3
                return block
            case Limit(source, count, offset):
                block = self._block(source, needed)
                block.limit = f"LIMIT {count}" + (f" OFFSET {offset}" if offset else "")
                block.stage = 3
                return block
            case _:
                raise TypeError(f"no SQL for {type(node).__name__}")

    def _filter(self, node: Filter, needed: frozenset[str]) -> _Block:
        wanted = needed | frozenset(names_read(node.predicate))
        block = self._block(node.source, wanted)
        grouped = block.stage == 1 and block.group and self.style.having
        if block.stage > 0 and not grouped:
            block = self._wrap(block, node.source, wanted)
        terms = conjuncts(node.predicate)
        for term in terms:
            text = self._expression(term, block)
            if isinstance(meant(term), Or):
                text = f"({text})"
            (block.having if grouped else block.where).append(text)
        return block

    def _join(self, node: Join, needed: frozenset[str]) -> _Block:
        wanted = needed | {name for pair in node.on for name in pair}
        left = self._open(node.left, wanted, 0)
        right = self._open(node.right, wanted, 0)
        if not right.single:
            right = self._wrap(right, node.right, wanted)
        scope = left.scope | right.scope
        tests = [f"{scope[a]} = {scope[b]}" for a, b in node.on]
        word = "LEFT JOIN" if node.kind == "left" else "JOIN"
        if node.kind == "left":
            tests += right.where
            where = left.where
        else:
            where = left.where + right.where
        source = f"{left.source}\n{word} {right.source} ON {' AND '.join(tests)}"
        return _Block(source, scope, where)

    def _match(self, node: Match, needed: frozenset[str]) -> _Block:
        wanted = needed | {name for name, _ in node.on}
        left = self._open(node.left, wanted, 0)
        keys = frozenset(name for _, name in node.on)
        style = self.style.match
        if style == "join" and not node.negated and isinstance(node.right, GroupBy | Filter):
            # A planner may scan a grouped key list once per row when joining it.
            style = "in"
        if style == "join" or (style == "in" and len(node.on) > 1):
            return self._match_by_join(node, left, keys)
        grouped = style == "in" and not node.negated
        right = self._open(node.right, keys, 1 if grouped else 0)
        if style == "exists":
            tests = right.where + [f"{right.scope[b]} = {left.scope[a]}" for a, b in node.on]
            body = f"SELECT 1 FROM {right.source} WHERE {' AND '.join(tests)}"
            left.where.append(f"{'NOT ' if node.negated else ''}EXISTS ({body})")
            return left
        return self._match_by_list(node, left, right)

    def _match_by_list(self, node: Match, left: _Block, right: _Block) -> _Block:
        (here, there), *_ = node.on
        column, outer = right.scope[there], left.scope[here]
        if node.negated:
            right.where.append(f"{column} IS NOT NULL")
        body = " ".join(self._select(replace(right, scope={"": column}), ()).split("\n"))
        body = body.replace("SELECT 1 ", f"SELECT {column} ", 1)
        left.where.append(
            f"({outer} IS NULL OR {outer} NOT IN ({body}))"
            if node.negated
            else f"{outer} IN ({body})"
        )
        return left

    def _match_by_join(self, node: Match, left: _Block, keys: frozenset[str]) -> _Block:
        columns = tuple(dict.fromkeys(name for _, name in node.on))
        partners = Distinct(_narrowed(node.right, columns))
        right = self._wrap(self._block(partners, keys), partners, keys)
        tests = " AND ".join(f"{left.scope[a]} = {right.scope[b]}" for a, b in node.on)
        word = "LEFT JOIN" if node.negated else "JOIN"
        left.source = f"{left.source}\n{word} {right.source} ON {tests}"
        if node.negated:
            left.where.append(f"{right.scope[columns[0]]} IS NULL")
        left.single = False
        return left

    def _extend(self, node: Extend, needed: frozenset[str]) -> _Block:
        new = {name for name, _ in node.items}
        read = {name for _, item in node.items for name in names_read(item)}
        block = self._open(node.source, (needed - new) | read, 2)
        before = dict(block.scope)
        for name, item in node.items:
            block.scope[name] = expression_sql(item, before, self.dialect, self.query)
            if any(part in block.windows for part in names_read(item)):
                block.windows.add(name)
        block.single = False
        return block

    def _group(self, node: GroupBy) -> _Block:
        wanted = frozenset(node.keys).union(
            *(
                names_read(part)
                for item in node.aggregates
                for part in (item.argument, item.where)
                if part is not None
            )
        )
        block = self._open(node.source, wanted, -1 if self.style.staged else 0)
        scope = {key: block.scope[key] for key in node.keys}
        scope |= {item.name: self._aggregate(item, block) for item in node.aggregates}
        return replace(
            block, scope=scope, group=[scope[key] for key in node.keys], stage=1, single=False
        )

    def _aggregate(self, item: Aggregate, block: _Block) -> str:
        argument = "*" if item.argument is None else self._expression(item.argument, block)
        word = item.function.upper()
        distinct = "DISTINCT " if item.distinct else ""
        if item.where is None:
            return f"{word}({distinct}{argument})"
        test = self._expression(item.where, block)
        if self.style.condition == "filter":
            return f"{word}({distinct}{argument}) FILTER (WHERE {test})"
        value = "1" if item.argument is None else argument
        return f"{word}({distinct}CASE WHEN {test} THEN {value} END)"

    def _window(self, node: Window, needed: frozenset[str]) -> _Block:
        read = {*node.partition, *(name for name, _ in node.order)} | {node.argument or ""} - {""}
        wanted = (needed - {node.name}) | frozenset(read)
        if self.style.windows == "correlated":
            return self._correlated(node, wanted)
        block = self._open(node.source, wanted, 2)
        if read & block.windows:
            block = self._wrap(block, node.source, wanted)
        block.scope[node.name] = over(node, block.scope, self.dialect)
        block.windows.add(node.name)
        block.stage = 2
        block.single = False
        return block

    def _correlated(self, node: Window, wanted: frozenset[str]) -> _Block:
        """Render a window as a per-row sub-query over the same intermediate result."""
        block = self._wrap(self._block(node.source, wanted), node.source, wanted, cte=True)
        table = block.source
        inner = {name: text.replace(f"{table}.", "peer.", 1) for name, text in block.scope.items()}
        same = [f"peer.{_output(p)} IS {block.scope[p]}" for p in node.partition]
        if self.dialect != "sqlite":
            same = [text.replace(" IS ", " IS NOT DISTINCT FROM ") for text in same]
        block.scope[node.name] = per_row(node, table, inner, block.scope, same)
        block.stage = 2
        block.windows.add(node.name)
        block.single = False
        return block

    def _combine(self, node: Combine) -> _Block:
        texts = []
        for side in (node.left, node.right):
            columns = frozenset(side.columns)
            block = self._open(side, columns, 2)
            if block.distinct:
                block = self._wrap(block, side, columns)
            texts.append(self._select(block, side.columns))
        scope = {name: _output(name) for name in node.columns}
        raw = f"\n{_SETS[node.kind]}\n".join(texts)
        return _Block("", scope, raw=raw, stage=3, fixed=node.columns)

    def _project(self, node: Project) -> _Block:
        read = frozenset(name for _, item in node.items for name in names_read(item))
        block = self._block(node.source, read)
        if block.fixed or (self.style.staged and block.stage == 0 and block.where):
            block = self._wrap(block, node.source, read)
        windows = {
            name for name, item in node.items if any(n in block.windows for n in names_read(item))
        }
        scope = {name: self._expression(item, block) for name, item in node.items}
        return replace(block, scope=scope, windows=windows, single=False)

    def _distinct(self, node: Distinct) -> _Block:
        columns = frozenset(node.columns)
        block = self._open(node.source, columns, 2)
        if self.style.distinct == "group" and block.stage == 0:
            scope = {name: block.scope[name] for name in node.columns}
            if all("." in text for text in scope.values()):
                return replace(block, scope=scope, group=list(scope.values()), stage=3,
                               fixed=node.columns, single=False)  # fmt: skip
        return replace(block, distinct=True, stage=3, fixed=node.columns, single=False)


def _narrowed(relation: Relation, columns: tuple[str, ...]) -> Relation:
    return Project(relation, tuple((name, Ref(name)) for name in columns))


def _output(name: str) -> str:
    return quoted(name.replace(".", "_"))


def _item(text: str, name: str) -> str:
    return text if text == name or text.endswith(f".{name}") else f"{text} AS {name}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())

"""Query programs: a small relational algebra with three independent backends.

A program is a tree of relations (`relations`) over expressions (`expressions`). It can be rendered
as SQL in several styles and dialects (`text`) and evaluated over plain rows without a SQL engine
(`evaluate`), so that one derivation checks the other.
"""

from hexathlon.tasks.sql.programs.evaluate import Evaluation, evaluate
from hexathlon.tasks.sql.programs.text import Style, sql_text

__all__ = ["Evaluation", "Style", "evaluate", "sql_text"]

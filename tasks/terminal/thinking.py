"""What a solver of a generated task may say to itself: the words of the instruction that count."""

import json
import re

from hexathlon.tasks.terminal.dice import is_name
from hexathlon.tasks.terminal.draft import Draft
from hexathlon.tasks.terminal.scripts import hands_over_a_script

__all__ = ["terminal_thought"]

_CLAUSE = re.compile(r"(?<=[.;,])\s+|\n+")
_ATOM = re.compile(r"[A-Za-z]+|\b\d+\b")


def terminal_thought(draft: Draft, action: str) -> str:
    """Quote the clauses that the solution takes names and numbers from, before it is run.

    A name is quoted where it stands first, a number wherever it stands: what it is the number of
    is said around it.
    """
    if not hands_over_a_script(json.loads(action)):
        return ""
    wanted = {atom for atom in _ATOM.findall(draft.solution) if atom.isdigit() or is_name(atom)}
    quoted = []
    for clause in _CLAUSE.split(draft.instruction):
        found = wanted.intersection(_ATOM.findall(clause))
        if found:
            quoted.append(clause)
            wanted -= {atom for atom in found if not atom.isdigit()}
    return " ".join(quoted)

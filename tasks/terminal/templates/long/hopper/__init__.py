"""A server of job queues that has to keep its promises when it is killed at any moment.

It knows drafts and probes; it does not know sandboxes or the source that numbers the tasks.
"""

import json

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template
from hexathlon.tasks.terminal.templates.long.hopper.documents import documents
from hexathlon.tasks.terminal.templates.long.hopper.driver import DRIVER
from hexathlon.tasks.terminal.templates.long.hopper.faults import FAULTS
from hexathlon.tasks.terminal.templates.long.hopper.model import draw_promise
from hexathlon.tasks.terminal.templates.long.hopper.program import (
    alternative_text,
    program_text,
    starting_text,
)
from hexathlon.tasks.terminal.templates.long.hopper.scenarios import groups

_NEAR_MISSES = 6
"""Near misses drawn of each kind: of the promises to all, and of the house's own."""


@template("long_queue", ("hard",))
def long_queue(draft: TerminalDraft) -> None:
    """Make a job server durable and exact, by decisions, incidents and an earlier file format."""
    promise = draw_promise(draft.dice, draft.split)
    names = draft.cast.names("service", 2)
    for path, text in documents(promise, draft.cast.names("person", 4)).items():
        draft.file(path, text)
    draft.file("serve.py", starting_text(), 0o755)
    draft.say(
        "serve.py is a server of job queues: `python3 serve.py DATA PORT`. It was a demonstration "
        "and is about to replace the first server, on whose folders it has to start. Make it "
        "keep everything that docs/, the decisions, the incident reports and the owner of the "
        "server promise to its users. In production it may be killed at any time. The data may "
        "be kept in any form. Only the standard library may be used."
    )
    draft.turns = 45
    for group, scenarios in groups(promise, draft.dice, names).items():
        forms = {name: scenario.form() for name, scenario in scenarios.items()}
        files = {"held-out.json": json.dumps(forms), "held-out.py": DRIVER}
        expected = {name: scenario.expected(promise) for name, scenario in scenarios.items()}
        draft.probe(group, "python3 held-out.py", files=files, seconds=75.0, json=expected)
    draft.part("serve.py", put("serve.py", program_text(promise), "755"))
    draft.alternative("database", put("serve.py", alternative_text(promise), "755"))
    missed = draft.dice.some(sorted(FAULTS), _NEAR_MISSES)
    for name in [*missed, *draft.dice.some(sorted(promise.twists), 3)]:
        draft.mutant(f"without_{name}", put("serve.py", program_text(promise, name), "755"))

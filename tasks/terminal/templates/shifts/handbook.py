"""The operations handbook of a day: rules that hold at every report, and their test."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hexathlon.tasks.terminal.dice import Dice

__all__ = ["Handbook", "draw_handbook"]

_SEPARATORS = (" | ", ";", " - ", " : ")
_ORDERS = (("ticket", "component", "result"), ("component", "ticket", "result"),
           ("ticket", "result", "component"))  # fmt: skip
_LEFT = (".bak", ".orig", ".old", ".rej", ".swp", ".tmp", "~")


@dataclass(frozen=True)
class Handbook:
    """The rules that a day draws."""

    log: str
    separator: str
    order: tuple[str, str, str]
    backup: str
    """Folder of the originals."""

    etc_mode: int
    program_mode: int

    def mode_of(self, path: str, content: str | bytes) -> int:
        """Return the mode of a file by its place and content."""
        data = content.encode() if isinstance(content, str) else content
        if path.startswith("etc/"):
            return self.etc_mode
        if path.startswith(("bin/", "srv/")) and data.startswith(b"#!"):
            return self.program_mode
        return 0o644

    def line(self, ticket: str, component: str, result: str) -> str:
        """Return the log's line for a ticket."""
        fields = {"ticket": ticket, "component": component, "result": result}
        return self.separator.join(fields[name] for name in self.order)

    def prelude(self) -> str:
        """Return the beginning of every solution."""
        return (
            "set -e\ncd /app\nkeep() {\n  for path; do\n"
            f'    [ ! -e "$path" ] || [ -e "{self.backup}/$path" ] || {{\n'
            f'      mkdir -p "{self.backup}/$(dirname "$path")"\n'
            f'      cp -p "$path" "{self.backup}/$path"\n    }}\n  done\n}}\n'
        )

    def text(self, jobs: Sequence[str]) -> str:
        """Return the handbook itself."""
        names = {"ticket": "TICKET", "component": "COMPONENT", "result": "RESULT"}
        form = self.separator.join(names[name] for name in self.order)
        return f"""# Operations handbook

All paths are relative to /app.

## Before you change anything

1. The first time that you change, replace or delete a file below `etc/` or `srv/` that was there
   this morning, put its original into `{self.backup}/` under its own path: the original of
   `etc/a/b.conf` is `{self.backup}/etc/a/b.conf`, byte for byte. There is one original for each
   file, that of this morning; it is not overwritten when the file changes again. Files that the
   timed jobs write need none, nor do files that are new today.

## While you work

2. Every file below `etc/` has the mode {self.etc_mode:o}.
3. Every file below `bin/` and `srv/` whose first line begins with `#!` has the mode
   {self.program_mode:o}. New programs in `bin/` begin with such a line.
4. `HANDBOOK.md`, `etc/crontab`, `bin/ctl`, `bin/release` and everything in `bin/cron/` belong to
   the platform team: use them, and leave them as they are, modes included.
5. Nothing is left lying about: outside `tmp/` and `{self.backup}/` no file whose name ends in
   {", ".join(f"`{end}`" for end in _LEFT)}.

## When a ticket is done

6. Add one line to `{self.log}` for each ticket, before you report it:

       {form}

   TICKET is the ticket's number as it is written in the ticket, COMPONENT the component named in
   its first line. RESULT is what the ticket asks to be logged, and a single `-` if it asks for
   nothing. There is nothing else in the line. Lines of others stay as they are.
7. What a ticket has asked for holds from then on: at every later report, too, whatever happened
   in between. Only a ticket that says so itself changes what an earlier one asked for.

## The machine

* `etc/crontab` lists the timed jobs ({len(jobs)} at present). They run between tickets, and once
  more before a report is looked at; anyone may run them by hand at any time.
* `bin/ctl start NAME`, `bin/ctl stop NAME`, `bin/ctl status NAME` control the services in `srv/`.
  At a report the machine restarts and all processes end: no service needs to be left running.
  What counts is that `bin/ctl start NAME` brings it up and that it then does what it should.
* `bin/release NAME VERSION` installs a release from `releases/` over `srv/NAME`.
* Python is 3.11 with its standard library. There is no network.
"""

    def test(self, files: Mapping[str, bytes], modes: Mapping[str, int], freed: set[str]) -> str:
        """Return a program that prints every breach of rules 1 to 5.

        Args:
            files: The machine's files of the morning.
            modes: Modes of those that do not have the usual one.
            freed: Files that timed jobs write.
        """
        kept = {
            path: hashlib.sha256(data).hexdigest()
            for path, data in files.items()
            if path.startswith(("etc/", "srv/")) and path not in freed
        }
        sealed = {
            path: [hashlib.sha256(data).hexdigest(), modes.get(path, 0o644)]
            for path, data in files.items()
            if path in ("HANDBOOK.md", "etc/crontab", "bin/ctl", "bin/release")
            or path.startswith("bin/cron/")
        }
        given = [self.backup, self.etc_mode, self.program_mode, _LEFT, kept, sealed]
        return f"""import hashlib, json, os
backup, etc, program, left, kept, sealed = json.loads({json.dumps(given)!r})
os.chdir("/app")
def digest(path):
    try:
        return hashlib.sha256(open(path, "rb").read()).hexdigest()
    except OSError:
        return ""
for path, what in kept.items():
    if what not in (digest(path), digest(backup + "/" + path)):
        print("original", path)
    elif digest(backup + "/" + path) not in ("", what):
        print("overwritten", path)
for path, (what, mode) in sealed.items():
    if digest(path) != what or os.stat(path).st_mode & 0o777 != mode:
        print("sealed", path)
for folder, folders, names in os.walk("."):
    if ".git" in folders:
        folders.remove(".git")
    if folder == "." :
        folders[:] = [name for name in folders if name not in ("tmp", backup)]
    top = folder[2:].partition("/")[0]
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith(tuple(left)):
            print("left", path)
        if os.path.islink(path) or top not in ("etc", "bin", "srv"):
            continue
        mode = os.stat(path).st_mode & 0o777
        head = open(path, "rb").read(2)
        if top == "etc" and mode != etc:
            print("mode", path)
        if top != "etc" and head == b"#!" and mode != program:
            print("mode", path)
        if folder == "./bin" and head != b"#!":
            print("head", path)
print("end")
"""


def draw_handbook(dice: Dice) -> Handbook:
    """Draw the rules of a day."""
    return Handbook(
        log=dice.pick(("CHANGES", "OPERATIONS.log", "DAYBOOK", "WORKLOG")),
        separator=dice.pick(_SEPARATORS),
        order=dice.pick(_ORDERS),
        backup=dice.pick(("originals", "backup", "before", "keep")),
        etc_mode=dice.pick((0o640, 0o600, 0o660)),
        program_mode=dice.pick((0o750, 0o700, 0o770)),
    )

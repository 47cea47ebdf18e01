"""Held-out scenarios: what is sent to the server, and when it is killed."""

from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.templates.long.hopper.model import Promise, ServerStep, replies

__all__ = ["Scenario", "groups"]


@dataclass(frozen=True)
class Scenario:
    """Steps, and the file in the earlier format that lies in the folder at the start."""

    steps: list[ServerStep]
    old: list[str] = field(default_factory=list)
    torn: str = ""
    """A last line without an end."""

    def form(self) -> dict[str, Any]:
        """Return the scenario as the driver reads it."""
        made = [[what, value, _count(value)] for what, value in self.steps]
        old = "".join(f"{line}\n" for line in self.old) + self.torn
        return {"steps": made, "old": old}

    def expected(self, promise: Promise) -> list[str]:
        """Return what the driver reports when the promises are kept."""
        return replies(promise, self.steps, self.old)


def _count(text: str) -> int:
    """Return the number of replies to some lines."""
    count, skipped = 0, 0
    for line in text.split("\n"):
        if skipped:
            skipped -= 1
            continue
        count += 1
        if line.startswith("BATCH "):
            skipped = int(line.split()[1])
    return count


def _send(*lines: str) -> ServerStep:
    return "send", "\n".join(lines)


def _pause(seconds: float) -> ServerStep:
    """Wait until something that takes so long has happened, on a slow machine as well."""
    return "sleep", f"{seconds + _SLACK:g}"


_KILL: ServerStep = ("kill", "")
_SLACK = 3.0
"""Seconds by which a right server's timers may be late. What has to happen in time has more."""


def groups(promise: Promise, dice: Dice, names: list[str]) -> dict[str, dict[str, Scenario]]:
    """Return scenarios by the group of promises that they test."""
    one, two = names[:2]
    words = [dice.word(6) for _ in range(12)]
    made = {
        "durable": _durable(promise, one, two, words),
        "leases": _leases(promise, one, words),
        "limits": _limits(promise, one, two, words),
        "earlier_format": _migration(promise, dice, one, two),
        "mixed": {f"mixed_{turn}": _mixed(promise, dice, one, two) for turn in range(5)},
    }
    special = {name: _SPECIAL[name](promise, one, two, words) for name in sorted(promise.twists)}
    return {**made, "house": special}


def _durable(promise: Promise, one: str, two: str, words: list[str]) -> dict[str, Scenario]:
    a, b, c, *_ = words
    return {
        "killed_after_replies": Scenario([
            _send(f"PUT {one} {a}", f"PUT {one} rank=3 {b} {c}", f"PUT {two} x=1 {a}"),
            _KILL, _send(f"STATS {one}", f"TAKE {one} 60"), _send("DONE 2 $1"), _KILL,
            _send("DONE 2 $1", f"STATS {one}", f"TAKE {two} 60"), _send("DONE 3 $1", "DONE 3 $2"),
            _send(f"TAKE {one} 60"), _send("DONE 1 $3"), _KILL, _KILL,
            _send(f"PUT {one} {c}", "DONE 1 $3"),
        ]),
        "keys": Scenario([
            _send(f"PUT {one} key=k1 {a}", f"PUT {one} key=k1 {a}", f"PUT {one} key=k1 {b}",
                  f"PUT {two} key=k1 {b}", f"TAKE {one} 60"),
            _send("DONE 1 $1", f"PUT {one} key=k1 {a}"), _KILL, _KILL,
            _send(f"PUT {one} key=k1 {a}", f"PUT {one} key=k1 {c}", f"STATS {one}"),
        ]),
        "forgotten_keys": Scenario([
            *(step for turn in range(promise.keys + 1) for step in (
                _send(f"PUT {one} key=k{turn} {a}", f"PUT {one} key=k0 {a}", f"TAKE {one} 60"),
                _send(f"DONE {turn + 1} ${turn + 1}"))),
            _KILL, _send(f"PUT {one} key=k{promise.keys} {a}", f"PUT {one} key=k1 {a}"),
            _send(f"PUT {one} key=k0 {a}", f"STATS {one}"),
        ]),
        "killed_under_load": Scenario([("load", "0.9"), ("load", "0.4"), _send(f"STATS {one}")]),
        "folder_size": Scenario([
            _send(f"PUT {one} key=k {a}"), ("churn", "60"), ("size", ""), _KILL,
            _send(f"PUT {one} key=k {a}", f"PUT {one} {b}", f"STATS {one}", "STATS churn"),
        ]),
        "one_server": Scenario([
            _send(f"PUT {one} {a}"), ("second", ""), _send(f"PUT {one} {b}"), ("term", ""),
            _send(f"STATS {one}", f"TAKE {one} 60"),
        ]),
    }  # fmt: skip


def _leases(promise: Promise, one: str, words: list[str]) -> dict[str, Scenario]:
    a, b, *_ = words
    until_dead = [
        step
        for turn in range(1, promise.takes + 1)
        for step in (
            _send(f"TAKE {one} 1"),
            _pause(1),
            _send(f"STATS {one}", f"DONE 1 ${turn}"),
        )
    ]
    failing = [
        step
        for turn in range(1, promise.takes + 1)
        for step in (
            _send(f"TAKE {one} 60"), _send(f"FAIL 1 ${turn}", f"STATS {one}", f"FAIL 1 ${turn}"),
            _pause(promise.rest), _send(f"STATS {one}"),
        )
    ]  # fmt: skip
    return {
        "run_out": Scenario([_send(f"PUT {one} {a}"), *until_dead, _KILL, _send(f"STATS {one}")]),
        "failed": Scenario([_send(f"PUT {one} {a}"), *failing, _send(f"REVIVE {one}"), _KILL,
                            _send(f"STATS {one}", f"TAKE {one} 60")]),
        "other_token": Scenario([
            _send(f"PUT {one} {a}", f"TAKE {one} 1"), _pause(1), _send(f"TAKE {one} 60"),
            _send("DONE 1 $1", "FAIL 1 $1", f"STATS {one}"), _send("DONE 1 $2", "DONE 1 $1"),
        ]),
        "delayed": Scenario([
            _send(f"PUT {one} delay=12 rank=9 {a}", f"PUT {one} {b}", f"STATS {one}"), _KILL,
            _send(f"STATS {one}", f"TAKE {one} 60"), _pause(12),
            _send(f"TAKE {one} 60", f"TAKE {one} 60"),
        ]),
        "run_out_while_down": Scenario([
            _send(f"PUT {one} {a}", f"PUT {one} {b}", f"TAKE {one} 1"), _pause(1), _KILL,
            _send(f"STATS {one}", f"TAKE {one} 60", f"TAKE {one} 60"),
        ]),
    }  # fmt: skip


def _limits(promise: Promise, one: str, two: str, words: list[str]) -> dict[str, Scenario]:
    a, b, *_ = words
    fill = [f"PUT {one} key=f{turn} {a}" for turn in range(promise.limit)]
    bury = [
        step for turn in range(1, promise.takes + 1) for step in (_send(f"TAKE {one} 1"), _pause(1))
    ]
    return {
        "full": Scenario([
            _send(*fill, f"PUT {one} {b}", fill[-1], f"PUT {two} {b}", f"TAKE {one} 60"),
            _send(f"PUT {one} {b}", "DONE 1 $1", f"PUT {one} {b}", f"PUT {one} {b}"),
        ]),
        "dead_leave_room": Scenario([
            _send(f"PUT {one} {a}"), *bury, _send(f"STATS {one}", *fill, f"PUT {one} {b}"),
        ]),
        "batches": Scenario([
            _send(f"BATCH {promise.limit + 1}", *[f"PUT {one} {a}"] * (promise.limit + 1),
                  f"STATS {one}", "BATCH 3", f"PUT {one} {a}", f"PUT {two} key=k {b}",
                  f"PUT {two} key=k {b}"),
            _send("BATCH 2", f"PUT {one} {a}", f"PUT {two} key=k {a}", f"STATS {one}",
                  f"STATS {two}"),
            _KILL, _send(f"STATS {one}", f"PUT {two} key=k {b}", f"PUT {one} {b}"),
        ]),
        "lines": Scenario([
            ("long", ""), ("split", ""), _send("PIN", f"TAKE {one}", f"STATS {one} {two}", "PING"),
            _send("DONE 7 $1", f"PUT {one} {a}  {b} "), _send(f"TAKE {one} 60"),
        ]),
    }  # fmt: skip


def _migration(promise: Promise, dice: Dice, one: str, two: str) -> dict[str, Scenario]:
    def old(count: int) -> list[str]:
        lines, alive, taken = [], [], dict[int, int]()
        for number in range(1, count + 1):
            queue = dice.pick((one, two)) if number > 4 else f"q{number}"
            lines.append(f"+\t{number}\t{queue}\t{dice.whole(0, 3)}\t{dice.word(5)} {dice.word(3)}")
            alive.append(number)
            if dice.chance(0.5):
                who = dice.pick(alive)
                if taken.get(who, 0) < promise.takes:
                    taken[who] = taken.get(who, 0) + 1
                    lines.append(f"t\t{who}")
            if number > 5 and dice.chance(0.5):
                lines.append(f"-\t{alive.pop(dice.whole(0, len(alive) - 1))}")
        return lines

    def twice(lines: list[str]) -> list[str]:
        """Repeat a line with another body, as the earlier server did after restarts."""
        again = lines[0].rpartition("\t")[0] + "\trepeated"
        return [*lines, again]

    look = _send(f"STATS {one}", f"STATS {two}", *[f"STATS q{n}" for n in (1, 2, 3, 4)])
    all_taken = _send(*[f"TAKE {queue} 60" for queue in (one, one, two, "q1", "q2", "q3", "q4")])
    lines = twice(old(14))
    gone = [*old(9), "+\t90\tq2\t0\tlast", "-\t90"]
    return {
        "taken_over": Scenario([look, all_taken, _send("PUT q9 new"), _KILL, look], lines),
        "torn": Scenario([look, _send("PUT q9 new"), _KILL, look, all_taken], gone, f"-\t{1}"),
        "killed_while_starting": Scenario(
            [("false_start", "0.04"), ("false_start", "0.09"), ("false_start", "0.15"),
             look, _send("PUT q9 new"), _KILL, look, all_taken], old(12), "+\t99\tq1\t0\tha"
        ),
    }  # fmt: skip


def _mixed(promise: Promise, dice: Dice, one: str, two: str) -> Scenario:
    """Draw a scenario in which jobs are put, taken and finished, and the server is killed."""
    steps: list[ServerStep] = []
    taken: list[str] = []
    for _ in range(26):
        kind = dice.pick(
            ("put", "put", "key", "take", "take", "end", "end", "kill", "stats", "batch")
        )
        queue = dice.pick((one, two))
        if kind == "put":
            steps.append(_send(f"PUT {queue} rank={dice.whole(0, 2)} {dice.word(4)}"))
        elif kind == "key":
            steps.append(_send(f"PUT {queue} key=k{dice.whole(1, 6)} b{dice.whole(1, 2)}"))
        elif kind == "batch":
            lines = [f"PUT {queue} key=k{dice.whole(1, 6)} b1", f"PUT {two} {dice.word(3)}"]
            steps.append(_send("BATCH 2", *lines))
        elif kind == "kill":
            steps.append(_KILL)
        elif kind == "stats":
            steps.append(_send(f"STATS {queue}"))
        elif kind == "take":
            reply = replies(promise, [*steps, _send(f"TAKE {queue} 600")])[-1]
            steps.append(_send(f"TAKE {queue} 600"))
            if reply.startswith("JOB"):
                taken.append(" ".join(reply.split()[1:3]))
        elif taken:
            slept = sum(what == "sleep" for what, _ in steps)
            word = dice.pick(("DONE", "DONE", "FAIL" if slept < 2 else "DONE"))
            job = dice.pick(taken)
            steps.append(_send(f"{word} {job}"))
            if word == "FAIL":
                steps.append(_pause(promise.rest))
    return Scenario([*steps, _KILL, _send(f"STATS {one}", f"STATS {two}")])


def _behind(promise: Promise, one: str, two: str, words: list[str]) -> Scenario:
    a, b, c, *_ = words
    return Scenario([
        _send(f"PUT {one} {a}", f"PUT {one} {b}", f"PUT {one} {c}", f"TAKE {one} 1"),
        _pause(1), _send(f"PUT {one} late"), _send(f"TAKE {one} 60"), _send("FAIL 2 $2"),
        _pause(promise.rest), _KILL, *[_send(f"TAKE {one} 60")] * 5,
    ])  # fmt: skip


def _voids(promise: Promise, one: str, two: str, words: list[str]) -> Scenario:
    takes = [step for _ in range(promise.takes + 1) for step in (_send(f"TAKE {one} 60"), _KILL)]
    return Scenario([_send(f"PUT {one} {words[0]}", f"PUT {one} {words[1]}"), *takes,
                     _send("DONE 1 $1", f"STATS {one}", f"TAKE {one} 60"),
                     _send(f"STATS {one}")])  # fmt: skip


def _bury(promise: Promise, queue: str) -> list[ServerStep]:
    made = [_send(f"TAKE {queue} 1"), _pause(1)]
    return made * promise.takes


def _free_key(promise: Promise, one: str, two: str, words: list[str]) -> Scenario:
    return Scenario([
        _send(f"PUT {one} key=k {words[0]}", f"PUT {one} delay=60 key=m {words[0]}"),
        *_bury(promise, one), _send(f"PUT {one} key=k {words[1]}", f"PUT {one} key=m {words[1]}"),
        _KILL, _send(f"PUT {one} key=k {words[1]}", f"STATS {one}", f"REVIVE {one}"),
    ])  # fmt: skip


def _once(promise: Promise, one: str, two: str, words: list[str]) -> Scenario:
    return Scenario([
        _send(f"PUT {one} {words[0]}"), *_bury(promise, one),
        _send(f"REVIVE {one}", f"TAKE {one} 60"), _send(f"FAIL 1 ${promise.takes + 1}"), _KILL,
        _send(f"STATS {one}", f"REVIVE {one}", f"STATS {one}"),
    ])  # fmt: skip


def _renew(promise: Promise, one: str, two: str, words: list[str]) -> Scenario:
    return Scenario([
        _send(f"PUT {one} {words[0]}", f"TAKE {one} 4"), _send("RENEW 1 $1 600", "RENEW 1 $2 600"),
        ("sleep", "4.8"), _send(f"STATS {one}"), _KILL, _pause(promise.longest - 4.8),
        _send(f"STATS {one}", "RENEW 1 $1 60", "DONE 1 $1", f"PUT {two} {words[1]}"),
        _send(f"TAKE {two} 60"), ("sleep", str(promise.longest + 1)), _send(f"STATS {two}"),
        _send("DONE 2 $2", "RENEW 2 $2 5"),
    ])  # fmt: skip


def _ttl(promise: Promise, one: str, two: str, words: list[str]) -> Scenario:
    a, b, c, *_ = words
    return Scenario([
        _send(f"PUT {one} ttl=4 rank=1 {a}", f"PUT {one} ttl=4 {b}", f"PUT {one} {c}",
              f"TAKE {one} 60"), _KILL, _pause(4),
        _send(f"STATS {one}", "DONE 1 $1", f"TAKE {one} 60", f"REVIVE {one}"), ("sleep", "4.5"),
        _send(f"STATS {one}"), _send(f"PUT {two} ttl=4 delay=60 {a}"), _pause(4),
        _send(f"STATS {two}"),
    ])  # fmt: skip


def _any(promise: Promise, one: str, two: str, words: list[str]) -> Scenario:
    puts = [f"PUT {queue} {word}" for word in words[:3] for queue in (two, one)]
    return Scenario([
        _send(*puts[:5], "PUT zz last"), *[_send("TAKE * 60")] * 3, _send(f"TAKE {two} 60"),
        *[_send("TAKE * 60")] * 3, _send(f"STATS {one}", f"STATS {two}"),
    ])  # fmt: skip


def _after(promise: Promise, one: str, two: str, words: list[str]) -> Scenario:
    a, b, c, *_ = words
    return Scenario([
        _send(f"PUT {one} {a}", f"PUT {two} after=1 {b}", f"PUT {two} after=77 {c}",
              f"STATS {two}", f"TAKE {two} 60", f"TAKE {two} 60"), _KILL,
        _send(f"STATS {two}", f"TAKE {one} 600"),
        _send(f"DONE 1 ${3 if promise.has('restart_voids') else 2}", "DONE 1 $2"),
        _send(f"TAKE {two} 60", f"PUT zz {a}", f"PUT zz after=4 {b}", f"PUT zz after=5 {c}"),
        *_bury(promise, "zz"), _send("STATS zz", f"PUT zz after=5 {a}", "STATS zz"),
    ])  # fmt: skip


_SPECIAL = {
    "back_of_line": _behind,
    "restart_voids": _voids,
    "dead_frees_key": _free_key,
    "revive_once": _once,
    "renew": _renew,
    "ttl": _ttl,
    "any_queue": _any,
    "after": _after,
}

"""Processes: a supervisor to write, a control script to fix."""

from hexathlon.tasks.terminal.draft import TerminalDraft, put, template

_SUPERVISE = """#!/usr/bin/env python3
import subprocess, sys
units, order = {}, []
for line in open(sys.argv[1]):
    line = line.strip()
    if line.startswith("["):
        name = line[1:-1]
        units[name] = {"after": [], "retries": DEFAULT, "run": "true"}
        order.append(name)
    elif line and not line.startswith("#"):
        key, _, value = line.partition("=")
        value = value.strip()
        units[name][key.strip()] = value.split() if key.strip() == "after" else (
            int(value) if key.strip() == "retries" else value)
state = {}
while len(state) < len(order):
    ready = [n for n in order if n not in state and all(a in state for a in units[n]["after"])]
    if not ready:
        print("CYCLE", *[n for n in order if n not in state])
        sys.exit(2)
    name = READY
    unit = units[name]
    if any(state[a] != "ok" for a in unit["after"]):
        state[name] = "skipped"
        print(name, "skipped")
        continue
    for attempt in range(1, unit["retries"] + 2):
        code = subprocess.run(["sh", "-c", unit["run"]], stdout=subprocess.DEVNULL).returncode
        print(name, attempt, code)
        if code in GOOD:
            break
        if code == FATAL:
            break
    state[name] = "ok" if code in GOOD else "failed"
    print(name, state[name])
sys.exit(0 if all(s == "ok" for s in state.values()) else 1)
"""


@template("supervise", ("easy", "medium"))
def supervise(draft: TerminalDraft) -> None:
    """Write a supervisor: dependency order, retries, exit codes that end retrying."""
    dice = draft.dice
    names = draft.cast.names("service", 6)
    default, fatal = dice.whole(0, 2), dice.whole(90, 110)
    also = dice.whole(3, 60)
    good = (0, also)
    alphabetical = dice.chance(0.5)

    def units(count: int, cycle: bool) -> tuple[str, list[str], int]:
        chosen = dice.some(names, count)
        text, spec = "# units\n", {}
        for place, name in enumerate(chosen):
            after = dice.some(chosen[:place], min(place, dice.whole(0, 2)))
            if cycle and place == 1:
                after = [chosen[-1]]
            if cycle and place == count - 1:
                after = [chosen[1]]
            codes = [dice.pick((0, also, 1, 7, fatal)) for _ in range(4)]
            retries = dice.pick((None, 0, 1, 3))
            spec[name] = (after, retries, codes)
        for name in dice.shuffled(chosen):
            after, retries, codes = spec[name]
            text += f"[{name}]\nrun = n=$(cat /tmp/{name} 2>/dev/null || echo 0); "
            text += f"echo $((n + 1)) > /tmp/{name}; set -- {' '.join(map(str, codes))}; "
            text += "shift $n; exit $1\n"
            text += f"after = {' '.join(after)}\n" if after else ""
            text += f"retries = {retries}\n" if retries is not None else ""
        order = [line[1:-1] for line in text.split("\n") if line.startswith("[")]
        return text, *_supervised(spec, order)

    def _supervised(
        spec: dict[str, tuple[list[str], int | None, list[int]]], order: list[str]
    ) -> tuple[list[str], int]:
        state: dict[str, str] = {}
        lines: list[str] = []
        while len(state) < len(order):
            ready = [n for n in order if n not in state and all(a in state for a in spec[n][0])]
            if not ready:
                return [*lines, " ".join(["CYCLE", *[n for n in order if n not in state]])], 2
            name = min(ready) if alphabetical else ready[0]
            after, retries, codes = spec[name]
            if any(state[a] != "ok" for a in after):
                state[name] = "skipped"
                lines.append(f"{name} skipped")
                continue
            code = 0
            for attempt in range(1, (default if retries is None else retries) + 2):
                code = codes[attempt - 1]
                lines.append(f"{name} {attempt} {code}")
                if code in good or code == fatal:
                    break
            state[name] = "ok" if code in good else "failed"
            lines.append(f"{name} {state[name]}")
        return lines, 0 if all(s == "ok" for s in state.values()) else 1

    text, lines, _ = units(3, False)
    draft.file("units.conf", text)
    draft.file("units.log", "\n".join(lines[:3]) + "\n[the rest is lost]\n")
    first = "the first by name" if alphabetical else "the first in the file"
    draft.say(
        "Write an executable /app/supervise that takes the path of a file such as units.conf, "
        "runs its units one after another and prints what happens.\n"
        "* It is a unit's turn once all units named in `after`, which are units of the file, have "
        "ended or been skipped, also if one of them has failed before. Of those whose turn it is, "
        f"{first} is next.\n"
        "* If one of the units named in `after` is not ok, the unit is not run: print `NAME "
        "skipped`; that does not count as ok.\n"
        "* `run` is given to sh. After each try print `NAME TRY CODE`, tries counted from 1 and "
        f"CODE the exit status. {good[0]} and {good[1]} count as success; after {fatal} there is "
        "no further try; after any other status there are as many further tries as `retries` "
        f"says, {default} where it says nothing. What commands print is dropped; none is "
        "ended by a signal.\n"
        "* Then print `NAME ok` or `NAME failed`.\n"
        "* When units are left and none can run, print `CYCLE` and the names of those left, in "
        "the file's order, and exit with 2. Else exit with 0 if all were ok, with 1 if not.\n"
        "The commands of units.conf count their tries in /tmp; remove those files before you run "
        "them again. The supervisor removes nothing."
    )
    for number in range(4):
        text, lines, code = units(3 + number % 3 + draft.scale // 3, cycle=number == 3)
        draft.probe(
            f"units_{number}",
            f"rm -f /tmp/*; ./supervise held{number}",
            files={f"held{number}": text},
            text="\n".join(lines),
            exit=code,
        )
    draft.probe(
        "codes",
        "rm -f /tmp/*; ./supervise held_codes",
        exit=1,
        files={
            "held_codes": f"[z]\nrun = exit {also}\n[y]\nrun = echo "
            f"noise; exit {fatal}\nretries = 3\n"
            f"[b]\nafter = y\nrun = true\n[a]\nafter = b\nrun = true\n[x]\nrun = exit 1\n"
        },
        text="\n".join(
            _supervised(
                {
                    "z": ([], None, [also]),
                    "y": ([], 3, [fatal]),
                    "b": (["y"], None, [0]),
                    "a": (["b"], None, [0]),
                    "x": ([], None, [1] * 4),
                },
                list("zybax"),
            )[0]
        ),
    )
    waiting: dict[str, tuple[list[str], int | None, list[int]]] = {
        "m": ([], 0, [1]),
        "z": ([], 0, [0]),
        "a": (["m", "z"], 0, [0]),
        "b": (["a"], 0, [0]),
    }
    draft.probe(
        "one_failed_one_waiting",
        "./supervise held_waiting",
        exit=1,
        files={
            "held_waiting": "[m]\nrun = exit 1\nretries = 0\n[a]\nafter = m z\nrun = true\n"
            "[b]\nafter = a\nrun = true\n[z]\nrun = true\n"
        },
        text="\n".join(_supervised(waiting, list("mabz"))[0]),
    )
    right = (
        _SUPERVISE.replace("DEFAULT", str(default))
        .replace("FATAL", str(fatal))
        .replace("GOOD", str(good))
        .replace("READY", "min(ready)" if alphabetical else "ready[0]")
    )
    draft.program(
        "supervise",
        right,
        {
            "zero_only": (f"code in {good}", "code == 0"),
            "no_fatal": (f"code == {fatal}", "False"),
            "skips_ok": ('state[name] = "skipped"', 'state[name] = "ok"'),
            "skips_early": (
                'all(a in state for a in units[n]["after"])',
                '(all(a in state for a in units[n]["after"]) or '
                'any(state.get(a, "ok") != "ok" for a in units[n]["after"]))',
            ),
            "one_try_less": ('unit["retries"] + 2', 'unit["retries"] + 1'),
            "other_order": ("name = min(ready)", "name = max(ready)")
            if alphabetical
            else ("name = ready[0]", "name = ready[-1]"),
        },
    )
    other = right.replace(
        'subprocess.run(["sh", "-c", unit["run"]], stdout=subprocess.DEVNULL).returncode',
        "os.waitstatus_to_exitcode(os.system('( ' + unit['run'] + ' ) >/dev/null'))",
    ).replace("import subprocess, sys", "import os, sys")
    draft.alternative("os_system", put("supervise", other, "755"))


_CONTROL = """#!/bin/bash
# control start|stop|status|restart
pidfile=/tmp/NAME.pid
alive() {
  [ -s "$pidfile" ] || return 1
  pid=$(cat "$pidfile")
  CHECK
}
case "$1" in
  start)
    if alive; then echo "already running"; exit EXIT_ALREADY; fi
    NAME_FLAG=1 setsid bash -c 'exec -a NAME-worker sleep 600' >/dev/null 2>&1 </dev/null &
    echo $! > "$pidfile"
    for _ in $(seq 100); do alive && break; sleep 0.01; done
    echo started ;;
  stop)
    if ! alive; then CLEAN echo "not running"; exit EXIT_STOPPED; fi
    kill "$(cat "$pidfile")"
    for _ in $(seq 200); do alive || break; sleep 0.01; done
    rm -f "$pidfile"
    echo stopped ;;
  status)
    if alive; then echo running; elif [ -e "$pidfile" ]; then echo dead; exit EXIT_DEAD
    else echo stopped; exit EXIT_STOPPED; fi ;;
  restart)
    "$0" stop >/dev/null RESTART "$0" start ;;
  *) echo "usage: control start|stop|status|restart"; exit 64 ;;
esac
"""


@template("service_control", ("easy", "medium"))
def service_control(draft: TerminalDraft) -> None:
    """A control script that trusts a stale process id."""
    dice = draft.dice
    name = draft.cast.name("service")
    codes = dice.some(range(1, 30), 3)
    right = (
        _CONTROL.replace("NAME", name)
        .replace("EXIT_ALREADY", str(codes[0]))
        .replace("EXIT_STOPPED", str(codes[1]))
        .replace("EXIT_DEAD", str(codes[2]))
    )
    parts = {
        "CHECK": (
            f'kill -0 "$pid" 2>/dev/null && grep -qa \'^{name}-worker\' "/proc/$pid/cmdline" '
            "2>/dev/null && ! grep -q '^State:.Z' \"/proc/$pid/status\" 2>/dev/null",
            '[ -e "/proc/$pid" ]',
        ),
        "CLEAN": ('rm -f "$pidfile";', ""),
        "RESTART": (";", "&&"),
    }

    def script(broken: list[str]) -> str:
        text = right
        for key, (good, bad) in parts.items():
            text = text.replace(key, bad if key in broken else good)
        return text

    draft.file("control", script(sorted(parts)), 0o755)
    draft.say(
        f"/app/control starts and stops a background worker of {name}, whose process calls itself "
        f"`{name}-worker` and whose id is kept in /tmp/{name}.pid. Mend it:\n"
        "* A process id in that file counts only if a process of that id lives and is such a "
        "worker; ids of dead processes get used again by others, which must not be touched.\n"
        f"* `status` prints running (exit 0), dead (file there, no worker; exit {codes[2]}) or "
        f"stopped (no file; exit {codes[1]}).\n"
        f"* `start` prints `already running` and exits with {codes[0]} if the worker lives; after "
        "a crash it starts anew.\n"
        f"* `stop` ends the worker and removes the file; without a living worker it removes the "
        f"file, prints `not running` and exits with {codes[1]}.\n"
        "* `restart` leaves a living worker, also when none lived before, and prints `started`."
    )
    pid = f"/tmp/{name}.pid"
    gone = "for _ in $(seq 300); do kill -0 $p 2>/dev/null || break; sleep 0.01; done"
    say = '{ ./control %s; echo "= $?"; }'
    clean = f"; ./control stop >/dev/null 2>&1; kill $p 2>/dev/null; rm -f {pid}; true"
    draft.probe(
        "normal",
        "; ".join(
            say % word for word in ("status", "start", "status", "start", "stop", "status", "stop")
        )
        + clean,
        text=f"stopped\n= {codes[1]}\nstarted\n= 0\nrunning\n= 0\nalready running\n= {codes[0]}\n"
        f"stopped\n= 0\nstopped\n= {codes[1]}\nnot running\n= {codes[1]}",
    )
    draft.probe(
        "crashed",
        f"./control start; p=$(cat {pid}); kill -9 $p; {gone}; "
        + "; ".join(say % word for word in ("status", "start", "status"))
        + clean,
        text=f"started\ndead\n= {codes[2]}\nstarted\n= 0\nrunning\n= 0",
    )
    draft.probe(
        "reused",
        f"sleep 300 & p=$!; echo $p > {pid}; "
        + "; ".join(say % word for word in ("status", "stop", "status"))
        + "; kill -0 $p && echo alive"
        + clean,
        text=f"dead\n= {codes[2]}\nnot running\n= {codes[1]}\nstopped\n= {codes[1]}\nalive",
    )
    draft.probe(
        "restarted",
        f"{say % 'restart'}; p=$(cat {pid}); {say % 'restart'}; {gone}; "
        f"kill -0 $p 2>/dev/null || echo old gone; {say % 'status'}" + clean,
        text="started\n= 0\nstarted\n= 0\nold gone\nrunning\n= 0",
    )
    draft.part("control", put("control", script([]), "755"))
    for key in parts:
        draft.mutant(f"left_{key.lower()}", put("control", script([key]), "755"))
    other = script([]).replace('kill -0 "$pid" 2>/dev/null && grep -qa', "grep -qsa")
    draft.alternative("proc_only", put("control", other, "755"))

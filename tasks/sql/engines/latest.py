"""The last readings of each device, in a log that must not be read as a whole."""

from functools import partial
from typing import NamedTuple

from hexathlon.tasks.sql.engines.question import (
    EngineDraw,
    EngineQuestion,
    EngineTexts,
    QuestionTable,
    StoredTables,
)
from hexathlon.tasks.sql.schema import Row

__all__ = ["draw"]

_STATES = ("fine", "fault", "idle")
_READINGS = QuestionTable(
    "readings",
    (("id", "INTEGER"), ("device", "TEXT"), ("at", "TIMESTAMP"), ("state", "TEXT"),
     ("value", "INTEGER")),
    (("device", "at"),),
)  # fmt: skip
_DEVICES = QuestionTable("devices", (("code", "TEXT"), ("kind", "TEXT")))
_STEPS = 32_000


class _Spec(NamedTuple):
    until: str
    hard: bool


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about the state of the devices at a moment."""
    values = drawn.values("spec")
    spec = _Spec(f"2024-05-{values.between(10, 22)} {values.between(6, 20):02d}:00:00", drawn.hard)
    kind = (
        "the kind is the part of the device's code before the hyphen"
        if spec.hard
        else "the kind of a device is in `devices`"
    )
    text = (
        f"In which state were the devices at {spec.until}? The last reading of a device before "
        f"this moment says it (readings at exactly this moment do not count; {kind}; a device has "
        "at most one reading at a time). For every kind with devices that have a reading before "
        "it, give the kind, the number of these devices, the number of those in the state fault, "
        "and the sum of the values of all these last readings"
    )
    if spec.hard:
        text += (
            ". In a fifth column, give the number of the devices in the state fault whose reading "
            "before their last one, if there is one, was a fault, too"
        )
    tables = (_READINGS,) if spec.hard else (_DEVICES, _READINGS)
    return EngineQuestion(
        f"{text}.", tables, partial(_populate, drawn), partial(_by_hand, spec),
        {"sqlite": _texts(spec)}, steps=_STEPS,
    )  # fmt: skip


def _populate(drawn: EngineDraw, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    kinds = values.sample("BDFGHKLM", 5)
    codes = [f"{kind}-{number}" for kind in kinds for number in range(100, 100 + 24)]
    rows: list[tuple[str, str, str, int]] = []
    most = 100 if visible else 60
    numbers = values.rng.integers(0, 1 << 30, (len(codes), most)).tolist()
    for code, own in zip(codes, numbers, strict=True):
        minute = own[0] % 60_000
        # Some have no reading yet, some no longer.
        count = most if own[1] % 8 else 3
        for number in own[:count]:
            minute += 1 + number % (40_000 // most)
            day, rest = divmod(minute % 40_000, 1440)
            at = f"2024-05-{day + 1:02d} {rest // 60:02d}:{rest % 60:02d}:00"
            rows.append((code, at, _STATES[number // 64 % 3], number // 1024 % 500))
    unique = sorted({row[:2]: row for row in rows}.values(), key=lambda row: row[1])
    return {
        "devices": [(code, code[0]) for code in codes],
        "readings": [(place + 1, *row) for place, row in enumerate(unique)],
    }


def _by_hand(spec: _Spec, rows: StoredTables) -> list[Row]:
    seen: dict[str, list[tuple[str, str, int]]] = {}
    for _, device, at, state, value in rows["readings"]:
        if str(at) < spec.until:
            seen.setdefault(str(device), []).append((str(at), str(state), int(value or 0)))
    answer: dict[str, list[int]] = {}
    for device, own in seen.items():
        before, last = ([("", "", 0), *sorted(own)])[-2:]
        total = answer.setdefault(device[0], [0, 0, 0, 0])
        fault = last[1] == "fault"
        for place, more in enumerate((1, fault, last[2], fault and before[1] == "fault")):
            total[place] += more
    return [(kind, *total[: 4 if spec.hard else 3]) for kind, total in answer.items()]


def _texts(spec: _Spec) -> EngineTexts:
    kind = "substr(device, 1, instr(device, '-') - 1)" if spec.hard else "kind"
    if spec.hard:
        devices = (
            "WITH RECURSIVE all_devices(device) AS (SELECT MIN(device) FROM readings UNION ALL "
            "SELECT (SELECT MIN(r.device) FROM readings r WHERE r.device > a.device) "
            "FROM all_devices a WHERE a.device IS NOT NULL), devs AS (SELECT device FROM "
            "all_devices WHERE device IS NOT NULL), "
        )
    else:
        devices = "WITH devs AS (SELECT code AS device, kind FROM devices), "
    distinct = "WITH devs AS (SELECT DISTINCT device FROM readings), "
    own = "SELECT r.{} FROM readings r WHERE r.device = d.device AND r.at < '{}' ORDER BY r.at DESC"
    last, before = (
        f"({own.format('id', spec.until)} LIMIT 1{offset})" for offset in ("", " OFFSET 1")
    )

    def query(start: str = devices, condition: str = "", state: str = last) -> str:
        more = ""
        if spec.hard:
            more = (
                ", SUM(l.state = 'fault' AND COALESCE((SELECT p.state FROM readings p "
                "WHERE p.id = m.before), '') = 'fault') AS again"
            )
        extra = f", {before} AS before" if spec.hard else ""
        return (
            f"{start}m AS MATERIALIZED (SELECT d.*, {state} AS last{extra} FROM devs d) "
            f"SELECT {kind.replace('device', 'm.device')}, COUNT(*), SUM(l.state = 'fault'), "
            f"SUM(l.value){more} FROM m JOIN readings l ON l.id = m.last{condition} GROUP BY 1"
        )

    joined = "" if spec.hard else " JOIN devices ON code = device"
    again = ", SUM(state = 'fault' AND before = 'fault')" if spec.hard else ""
    ranked = (
        f"SELECT {kind}, COUNT(*), SUM(state = 'fault'), SUM(value){again} FROM (SELECT *, "
        "ROW_NUMBER() OVER (PARTITION BY device ORDER BY at DESC) AS k, LAG(state) OVER (PARTITION "
        f"BY device ORDER BY at) AS before FROM readings WHERE at < '{spec.until}') AS ranked"
        f"{joined} WHERE k = 1 GROUP BY 1"
    )
    grouped = query(
        f"{distinct if spec.hard else devices}newest AS (SELECT device, MAX(at) AS at FROM "
        f"readings WHERE at < '{spec.until}' GROUP BY device), ",
        state="(SELECT r.id FROM newest n JOIN readings r ON r.device = n.device AND r.at = n.at "
        "WHERE n.device = d.device)",
    )
    functions = query(state=last.replace("r.at <", "date(r.at) || ' ' || time(r.at) <"))
    wrong = {
        "ranks": ranked,
        "newest_by_group": grouped,
        "last_of_all": query(state=last.replace(f" AND r.at < '{spec.until}'", "")),
        "faults_only": query(condition=" AND l.state = 'fault'"),
        "largest_id_scanned": query(
            state=f"(SELECT MAX(r.id) FROM readings r WHERE r.device = d.device AND "
            f"substr(r.at, 1, 19) < '{spec.until}')"
        ),
    }
    if spec.hard:
        wrong["distinct_devices"] = query(distinct)
    other = query(state=last.replace("r.at <", "r.at >= '2000-01-01' AND r.at <"))
    return EngineTexts(query(), {"between": other}, {**wrong, "functions_of_the_key": functions})

"""Forged plans."""

from typing import Any

from support.forger import Forger, digest, key_of
from support.forgeries.base import Forgery, failed, passed


def drop_failed_trials(f: Forger) -> None:
    gone = [key_of(record) for record in f.drop(failed)]
    f.plan["keys"] = [key for key in f.plan["keys"] if key not in gone]


def drop_and_lower_the_count(f: Forger) -> None:
    drop_failed_trials(f)
    f.plan["config"]["tasks"] = len(f.plan["keys"])


def keep_the_better_seed(f: Forger) -> None:
    best = {r["key"]["task"]: r for r in f.records if r["key"]["trial"] == 0}
    best |= {r["key"]["task"]: r for r in f.records if passed(r)}
    f.records = list(best.values())
    f.plan["config"] |= {"seeds": 1, "trials": 1}
    f.plan["keys"] = [key_of(record) for record in f.records]


def swap_failed_tasks(f: Forger) -> None:
    spare = [r for r in f.other("more")[12:] if passed(r)]
    for index, record in enumerate(f.records):
        if failed(record):
            f.records[index] = spare.pop()
    f.plan["keys"] = [key_of(record) for record in f.records]


def claim_all_levels(f: Forger) -> None:
    f.plan["config"]["level"] = f.plan["envs"][0]["level"] = None


def claim_the_test_split(f: Forger) -> None:
    f.plan["config"]["split"] = f.plan["envs"][0]["split"] = "test"


def repeat_a_key(f: Forger) -> None:
    f.plan["keys"][1] = f.plan["keys"][0]


def reorder_keys(f: Forger) -> None:
    f.plan["keys"].reverse()


def repeat_a_task_set(f: Forger) -> None:
    f.plan["envs"].append(f.plan["envs"][0])


def drop_the_limits(f: Forger) -> None:
    del f.plan["limits"]


def planned(name: str, path: str, value: Any, field: str = "") -> Forgery:
    """Return a forgery of one field of the plan, such as `envs.0.level`."""
    *parents, last = path.split(".")

    def change(f: Forger) -> None:
        place: Any = f.plan
        for parent in parents:
            place = place[int(parent) if parent.isdigit() else parent]
        place[last] = value

    return Forgery(name, change, field or path.replace(".0.", "[0]."), "plan")


PLANS = [
    Forgery("failed trials left out of plan and records", drop_failed_trials, "keys", "plan"),
    Forgery("and the number of tasks lowered", drop_and_lower_the_count, "keys", "plan"),
    Forgery("the better of several seeds", keep_the_better_seed, "keys", "plan", "twice"),
    Forgery("failed tasks swapped for others", swap_failed_tasks, "keys", "plan"),
    Forgery("an easy level as all levels", claim_all_levels, "keys", "plan", "tiny"),
    Forgery("another split as the test split", claim_the_test_split, "keys", "plan", "dev"),
    Forgery("a trial planned twice", repeat_a_key, "keys", "plan"),
    Forgery("trials in another order", reorder_keys, "keys", "plan"),
    Forgery("a second task set", repeat_a_task_set, "envs", "plan"),
    planned("another level of the task set", "envs.0.level", "hard"),
    planned("the hash of other tasks", "envs.0.taskset_hash", digest("other")),
    planned("another version of the tasks", "envs.0.taskset_version", "9"),
    planned("a smaller task set", "envs.0.size", 12),
    planned("another version of the environment", "envs.0.version", "9"),
    planned("more seeds than played", "config.seeds", 3, "keys"),
    planned("more seeds than can be listed", "config.seeds", 10**12, "keys"),
    planned("a secret for tasks without one", "envs.0.salt_commitment", digest("secret")),
    planned("public tasks as held-out", "config.split", "heldout", "envs[0].split"),
    Forgery("no limits", drop_the_limits, "config", "plan"),
    planned("a model name other than configured", "model.name", "larger"),
    planned("a model at another address", "model.place", "http://elsewhere"),
    planned("other sampling than configured", "model.sampling", {"temperature": 0.5}),
    planned("an unknown setting", "config.bonus", 1, "config"),
    planned("an unknown environment", "config.envs", ["Toys"], "config"),
]

"""Checks shared by all sites and templates of the web event."""

from collections.abc import Iterable

from hexathlon.envs.web.env import WebEnv
from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play
from hexathlon.tasks.task import Split
from hexathlon.tasks.web.templates.table import templates_of
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan


def task_ids(template: str, level: str, split: Split = "train", count: int = 4) -> list[str]:
    """Ids of the first tasks of a template, twins together."""
    names = templates_of(level)
    place = names.index(template)
    indices = [2 * (place + len(names) * (k // 2)) + k % 2 for k in range(count)]
    return [f"web/{template}/{level}/{split}/{index:05d}" for index in indices]


def reward_of(env: WebEnv, task_id: str, script) -> float:
    env.reset(seed=7, options={"task": task_id})
    reward = 0.0

    def respond(action: str):
        nonlocal reward
        observation, reward, terminated, truncated, _ = env.step(action)
        return None if terminated or truncated else observation

    play(script, respond)
    return reward


def check_scripts(task_id: str) -> None:
    """Oracle and alternatives score 1, mutants and trivial policies 0.

    The policy that follows the words of the request scores 0 on most templates, too, but solves a
    few of the tiny tasks; `hexathlon selftest` bounds its mean.
    """
    source = get_source("web")
    task = source.build(task_id)
    env = WebEnv()
    rewards = {"oracle": reward_of(env, task_id, source.oracle(task))}
    for kind in ("alternatives", "mutants", "policies"):
        for name, script in getattr(source, kind)(task).items():
            rewards[f"{kind} {name}"] = reward_of(env, task_id, script)
    env.close()
    good = {name for name in rewards if name == "oracle" or name.startswith("alternatives")}
    assert {name: rewards[name] for name in good} == dict.fromkeys(good, 1.0), task.instruction
    others = rewards.keys() - good - {"policies words"}
    assert {name: rewards[name] for name in others} == dict.fromkeys(others, 0.0), task.instruction
    assert sum(name.startswith("mutants") for name in others) >= 3
    assert any(name.startswith("alternatives") for name in good)


def screens(site: str, paths: Iterable[str], *, scale: int = 2) -> dict[tuple[str, str, str], str]:
    """The text of pages, by language, look and path; each page is parsed, every label found."""
    shown = {}
    for language in ("en", "zh"):
        for look in LOOKS.values():
            plan = WorldPlan((site,), 5, "train", language, scale, "2026-03-02T09:00:00")
            network, browser = Network(plan, look), TwinBrowser()
            browser.open(network)
            for path in paths:
                browser.act("goto", {"url": f"http://{site}.hexathlon.test{path}"})
                shown[language, look.name, path] = browser.view().text
            network.close()
    return shown

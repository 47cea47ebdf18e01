"""Plays every MiniWoB++ page in Chromium and writes docs/notes/miniwob.md.

.venv/bin/python scripts/miniwob_table.py
"""

import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from hexathlon.envs.errors import EnvFault  # noqa: E402
from hexathlon.envs.web.env import WebEnv  # noqa: E402
from hexathlon.envs.web.miniwob import MiniwobPages  # noqa: E402
from hexathlon.tasks.web.loaders.miniwob import miniwob_pages  # noqa: E402
from support.miniwob_policy import SOLVERS, solve  # noqa: E402

SEEDS = 3

NEEDS = {
    "pixels": "colours or shapes exist only as pixels; needs screenshots",
    "motion": "elements move in real time; needs quick pointer actions",
    "drag": "needs dragging by coordinates",
}
"""Requirements of pages beyond text and element numbers."""

PIXELS = ("click-pie", "click-pie-nodelay", "click-shades", "count-sides", "drag-cube",
          "simon-says", "use-colorwheel", "use-colorwheel-2", "visual-addition", "hot-cold",
          "number-checkboxes", "bisect-angle", "click-menu-2")  # fmt: skip
MOTION = ("chase-circle", "hover-shape", "moving-items")
DRAG = ("draw-circle", "drag-shapes-2", "resize-textarea", "highlight-text", "highlight-text-2",
        "drag-items", "drag-items-grid", "drag-sort-numbers", "daily-calendar")  # fmt: skip


class Row(NamedTuple):
    """Results for one page."""

    page: str
    runs: bool
    solved: int | None
    remark: str


def main() -> None:
    """Play the pages and write the table."""
    env = WebEnv(backend="chromium", taskset="miniwob")
    rows = [check(env, page) for page in miniwob_pages()]
    env.close()
    running = [row for row in rows if row.runs]
    scripted = [row for row in rows if row.solved]
    lines = [
        "# MiniWoB++ pages",
        "",
        "Written by `scripts/miniwob_table.py` from the wheel of `miniwob` 1.1.0: every page, "
        f"whether it runs offline in Chromium, and on how many of {SEEDS} seeds the scripted "
        "policy of the tests (`tests/support/miniwob_policy.py`) earns the full raw reward. A dash "
        "means that no script was written. A page runs if it opens, states its task and "
        "shows elements to act on; the remarks list errors that its scripts report.",
        "",
        f"{len(running)} of {len(rows)} pages run; the scripts solve {len(scripted)} different "
        f"pages at least once, {sum(row.solved == SEEDS for row in scripted)} on every seed. The "
        "pages' clock is stopped, so only actions end an episode; jQuery animations are "
        "off. Episodes cannot be forked: the state is in the pages' scripts.",
        "",
        "| page | runs | solved | remark |",
        "|---|---|---|---|",
    ]
    for row in rows:
        solved = "–" if row.solved is None else f"{row.solved} of {SEEDS}"
        lines.append(f"| {row.page} | {'yes' if row.runs else 'no'} | {solved} | {row.remark} |")
    (ROOT / "docs" / "notes" / "miniwob.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines[4:7]))


def check(env: WebEnv, page: str) -> Row:
    """Open a page and play its script."""
    try:
        opening, errors = opened(env, page, 0)
    except EnvFault as error:
        return Row(page, False, None, str(error)[:160].replace("|", "/"))
    network = env.network
    assert isinstance(network, MiniwobPages)
    if not network.instruction:
        return Row(page, False, None, "the page was not ready: it states no task")
    if not env.browser.view().text.count("["):
        return Row(page, False, None, "nothing on the page can be acted on")
    groups = (("pixels", PIXELS), ("motion", MOTION), ("drag", DRAG))
    remark = next((NEEDS[kind] for kind, pages in groups if page in pages), "")
    if errors:
        remark = f"its scripts report: {errors[0][:100]}".replace("|", "/").replace("\n", " ")
    if page not in SOLVERS:
        return Row(page, True, None, remark)
    return Row(page, True, sum(play(env, page, seed) == 1.0 for seed in range(SEEDS)), remark)


def opened(env: WebEnv, page: str, seed: int) -> tuple[str, list[str]]:
    """Open a page; return the first observation and the errors of its scripts."""
    errors: list[str] = []

    def note(error: object) -> None:
        errors.append(str(error))

    context = getattr(env._browser, "_context", None)
    if context is not None:
        context.on("weberror", note_of := lambda each: note(each.error))
    opening, _ = env.reset(seed=1, options={"task": f"miniwob/{page}/easy/train/{seed:05d}"})
    if context is not None:
        context.remove_listener("weberror", note_of)
    return opening, errors


def play(env: WebEnv, page: str, seed: int) -> float:
    """Return the reward of the scripted policy."""
    try:
        opening, _ = opened(env, page, seed)
        script = solve(page, opening)
        action = next(script)
        while True:
            observation, reward, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                return reward
            action = script.send(observation)
    except Exception:  # whatever a script does not know counts as unsolved
        return 0.0


if __name__ == "__main__":
    main()

"""Floors of the shopping event: rankings by surface features, and clerks who ignore the policy.

    python benchmarks/shopping_floors.py --level medium --tasks 300

For purchases: how often the best-ranked product of the target's family is the target, for requests
as they are and without the values that they name as unwanted. Ties are drawn at random. For service
cases: the one-sided clerks, per task and jointly per pair of twins. Output is text.
"""

import argparse
from collections import defaultdict

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.catalogue import Constraint
from hexathlon.tasks.shopping.giveaway import told
from hexathlon.tasks.shopping.rankings import chance_of_first, open_shelf
from hexathlon.tasks.shopping.source import ShoppingSource
from hexathlon.tasks.shopping.templates.words import without_aversion
from hexathlon.tasks.shopping.world.settings import open_settings
from hexathlon.tasks.source import play
from hexathlon.tasks.task import LEVELS, Task


def ranked(task: Task) -> dict[str, float]:
    """Return the chance of each ranking to have the target first."""
    catalogue, language = open_settings(task.params).catalogue, task.params["language"]
    truth = task.checks[0].params
    lines, answer = truth["plan"]["lines"], truth["plan"]["answer"]
    target = lines[0][0] if lines else answer["records"][0].partition("-")[0]
    family = catalogue.product(target).family
    shelf = open_shelf(catalogue, family, language)
    position = catalogue.family(family).index(target)
    wanted = next(iter(truth["wanted"]), ())
    conditions = [Constraint.from_json(item["constraint"]) for item in wanted]
    request = told(task.instruction, task.params)
    chances = {}
    for prefix, text in (("", request), ("without unwanted values: ", without_aversion(request))):
        for name, scores in shelf.rankings(text, conditions):
            chances[prefix + name] = chance_of_first(scores, position)
    return chances


def served(source: ShoppingSource, env: ShoppingEnv, task: Task) -> dict[str, float]:
    """Return the scores of the one-sided clerks."""
    scores = {}
    for name, script in source.one_sided(task).items():
        env.reset(seed=0, options={"task": task.id})
        play(script, lambda action: env.step(action)[0])
        scores[name] = env.verdict().score
    return scores


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--level", choices=LEVELS, required=True)
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--tasks", type=int, default=300)
    options = parser.parse_args()
    source, env = ShoppingSource(), ShoppingEnv()
    hits: dict[str, float] = defaultdict(float)
    clerks: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    purchases = cases = 0
    for index in range(options.tasks):
        task = source.build(source.address(options.split, index, options.level))
        if task.params["world"] == "store":
            purchases += 1
            for name, chance in ranked(task).items():
                hits[name] += chance
        elif task.params["world"] == "service":
            cases += 1
            pair = min(task.id, task.twin or task.id)
            for name, score in served(source, env, task).items():
                clerks[name][pair].append(score)
    print(f"{options.level}: {purchases} purchases, {cases} service cases")
    for name, chance in sorted(hits.items(), key=lambda entry: -entry[1])[:12]:
        print(f"  {chance / purchases:6.1%}  {name}")
    for name, pairs in clerks.items():
        alone = sum(map(sum, pairs.values()))
        joint = sum(min(scores) for scores in pairs.values() if len(scores) > 1)
        print(
            f"  {name}: {alone / options.tasks:.1%} of all tasks; "
            f"{joint:.0f} of {len(pairs)} pairs jointly"
        )


if __name__ == "__main__":
    main()

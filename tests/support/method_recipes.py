"""Recipes on the toy event that name the field's methods, several in one recipe."""

from typing import Any

__all__ = ["METHODS", "part"]


def part(name: str, **parameters: Any) -> dict[str, Any]:
    """One component of a recipe."""
    return {"name": name, "parameters": parameters}


def learn(surrogate: str, **objective: Any) -> dict[str, Any]:
    """A recipe's learn table."""
    optimiser = {"learning_rate": 1e-3}
    return {"optimiser": optimiser, "objective": {"surrogate": surrogate, **objective}}


METHODS: list[dict[str, Any]] = [
    {
        "credit": {
            "estimator": part("hbpo", budgets=[8, 16]),
            "shapings": [
                part("process"),
                part("references"),
                part("staged", stages=[1], weights=[0.5, 0]),
                part("exploration"),
                part("skill_reuse", length=2),
            ],
            "filters": [part("resample_on_correct", keep=3, least=1), part("mask_errors")],
        },
        "generate": {
            "sampler": part("reference"),
            "candidates": 3,
            "allocator": part("shadow_price", least=1, most=7),
        },
    },
    {
        "credit": {"estimator": part("hapo"), "tokens": [part("d3s"), part("hapo")]},
        "learn": learn("hapo", entropy_weight=0.01),
        "generate": {"sampler": part("environments", active=2), "candidates": 3},
    },
    {
        "credit": {"estimator": part("rl_plus")},
        "generate": {"hint": part("item_response")},
        "learn": learn("rl_plus"),
        "replay": {"name": "external"},
    },
    {
        "credit": {
            "estimator": part("nudge"),
            "shapings": [part("generation_gain"), part("context_gain")],
            "filters": [part("with_plain_copies")],
        },
        "generate": {"context": part("strategies", texts=["one", "two"])},
    },
    {
        "credit": {"estimator": part("grpo"), "filters": [part("hint_free")]},
        "learn": learn("ppo", proximal="behaviour"),
        "generate": {"context": part("guide", below=1, plain=0.25)},
    },
    {
        "credit": {"estimator": part("survivors")},
        "generate": {
            "context": part("modes", texts=["at once", "slowly"]),
            "pruning": part("hopeless", below=1, chance=0.5),
        },
    },
    {"generate": {"pruning": part("balanced"), "context": part("examples", below=1)}},
    {"generate": {"context": part("efforts")}},
    {"credit": {"estimator": part("hbpo")}, "generate": {"context": part("budgets")}},
    {
        "credit": {"estimator": part("ad_hint")},
        "generate": {"hint": part("fading", most=0.5), "hinted": 0.5},
    },
    {
        "credit": {"estimator": part("gae"), "tokens": [part("asyppo")]},
        "critic": {"optimiser": {"learning_rate": 1e-3}, "heads": 2},
        "learn": learn("ppo", entropy_weight=0.01),
    },
    {
        "credit": {
            "estimator": part("grpo"),
            "shapings": [part("moa_pivot")],
            "filters": [part("reachable", low=-1, high=2)],
        },
        "learn": learn("otr"),
        "replay": {"name": "corrections"},
    },
    {
        "credit": {
            "estimator": part("grpo"),
            "shapings": [part("critiques", term=0), part("selective", threshold=0.5)],
        }
    },
]

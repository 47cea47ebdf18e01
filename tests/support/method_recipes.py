"""Recipes on the toy event that name the field's methods, several in one recipe."""

from typing import Any

__all__ = ["METHODS", "part"]


def part(name: str, **parameters: Any) -> dict[str, Any]:
    """One component of a recipe."""
    return {"name": name, "parameters": parameters}


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
    {"generate": {"sampler": part("environments", active=2), "candidates": 3}},
]

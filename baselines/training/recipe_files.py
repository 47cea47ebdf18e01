"""Recipe files by name or path.

Needs neither PyTorch nor the recipe's content, so an unknown name is reported at once.
"""

import difflib
from pathlib import Path

__all__ = ["RecipeError", "recipe_names", "recipe_path"]

RECIPES = Path(__file__).resolve().parents[1] / "recipes"


class RecipeError(Exception):
    """A recipe cannot be read, or names an unknown component."""


def recipe_names() -> list[str]:
    """Return the names of the built-in recipes."""
    return sorted(path.stem for path in RECIPES.glob("*.toml"))


def recipe_path(spec: str) -> Path:
    """Return the file of a recipe given by name or by path.

    Raises:
        RecipeError: If there is none.
    """
    for path in (Path(spec), RECIPES / f"{spec}.toml"):
        if path.is_file():
            return path
    names = recipe_names()
    near = difflib.get_close_matches(spec, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise RecipeError(
        f"there is no recipe {spec!r}{hint} Expected a TOML file or one of {', '.join(names)}"
    )

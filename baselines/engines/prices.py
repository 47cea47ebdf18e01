"""Price tables: versioned files with prices per token; costs of unlisted models are unknown."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from hexathlon.baselines.engines.base import Usage
from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.tasks.validation import reason

__all__ = ["PriceTable", "PriceTableError", "load_prices"]

_FIELDS = {"input", "output", "cached"}


class PriceTableError(ValueError):
    """A price table is missing or invalid."""


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices per million tokens, by model."""

    version: str
    currency: str
    models: Mapping[str, Mapping[str, float]]

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return the cost of a usage, or None if the model is not listed."""
        price = self.models.get(model)
        if price is None:
            return None
        uncached = usage.input - usage.cached
        total = uncached * price["input"] + usage.output * price["output"]
        total += usage.cached * price.get("cached", price["input"])
        return total / 1e6


def load_prices(path: Path | None = None) -> PriceTable:
    """Read a price table; by default the bundled one, which lists no model.

    Raises:
        PriceTableError: If the file is missing or invalid.
    """
    if path is None:
        text = resources.files("hexathlon.baselines.engines").joinpath("prices.toml").read_text()
        return _table("the bundled price table", tomllib.loads(text))
    try:
        return _table(str(path), tomllib.loads(read_settings_text(path)))
    except (OSError, ValueError) as error:
        raise PriceTableError(f"cannot read the price table {path}: {reason(error)}") from None


def _table(name: str, data: Mapping[str, Any]) -> PriceTable:
    version, models = data.get("version"), data.get("models", {})
    if not isinstance(version, str) or not isinstance(models, dict):
        raise PriceTableError(f"{name}: expected 'version' (text) and tables [models.\"name\"]")
    for model, price in models.items():
        _check(name, model, price)
    return PriceTable(version, str(data.get("currency", "USD")), models)


def _check(name: str, model: str, price: Any) -> None:
    has_prices = isinstance(price, dict) and {"input", "output"} <= set(price) <= _FIELDS
    if not has_prices or any(
        type(value) not in (int, float) or value < 0 for value in price.values()
    ):
        raise PriceTableError(
            f"{name}: model {model!r} needs 'input' and 'output' (and may have 'cached'), "
            f"each a number per million tokens, got {price!r}"
        )

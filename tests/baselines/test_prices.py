"""Costs: from the price table if the model is listed, otherwise unknown."""

from pathlib import Path

import pytest

from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.engines.prices import PriceTableError, load_prices

TABLE = """
version = "test-1"
[models."big"]
input = 2.0
cached = 0.5
output = 10.0
[models."small"]
input = 1
output = 1
"""


def test_cost_of_a_listed_model(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(TABLE)
    table = load_prices(path)
    usage = Usage(input=1_000_000, output=100_000, calls=1, cached=400_000)
    assert table.version == "test-1"
    assert table.cost("big", usage) == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 10.0)
    assert table.cost("small", usage) == pytest.approx(1.1)


def test_cost_of_an_unlisted_model_is_unknown() -> None:
    assert load_prices().cost("anything", Usage(input=5, output=5, calls=1)) is None


def test_sum_with_an_unknown_cost_is_unknown() -> None:
    known, unknown = Usage(1, 1, 1, cost=0.5), Usage(1, 1, 1)
    assert known.plus(known).cost == 1.0
    assert known.plus(unknown).cost is None
    assert Usage().plus(known).cost == 0.5
    assert known.plus(unknown)[:3] == (2, 2, 2)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("models = 3", "expected 'version'"),
        ("version = ", "is not TOML"),
        ('version = "1"\n[models.x]\ninput = 1', "model 'x' needs 'input' and 'output'"),
        ('version = "1"\n[models.x]\ninput = 1\noutput = -1', "model 'x'"),
        ('version = "1"\n[models.x]\ninput = 1\noutput = 1\ntip = 1', "model 'x'"),
    ],
)
def test_invalid_price_table_is_rejected(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(PriceTableError, match=complaint):
        load_prices(path)


def test_missing_price_table_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(PriceTableError, match="cannot read"):
        load_prices(tmp_path / "none.toml")

import pytest

from hexathlon.tasks.web.world.blocks import parse_cents


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("12.50", 1250), ("€ 3", 300), ("1,000.5", 100_050), ("٣", 300), ("1.٣", 130),
        ("²", None), ("1.²", None), ("𐩀", None), ("", None), ("1.234", None), ("-1", None),
    ],
)  # fmt: skip
def test_only_amounts_are_read_as_cents(text, cents):
    """Python calls `²` a digit, too, and does not read it as a number."""
    assert parse_cents(text) == cents

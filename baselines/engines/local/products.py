"""From how many rows on a matrix product gives each row the same result, bit for bit.

Libraries choose another order of summation for products of few rows. How few depends on the
processor and on the number of addends, so it is measured.
"""

from functools import lru_cache

import torch
import torch.nn.functional as F

__all__ = ["MOST_ROWS", "steady_rows"]

MOST_ROWS = 32
"""Largest number of rows that is tried as a minimum."""

_MORE = (33, 40, 48, 63, 64)
"""Larger numbers of rows that are compared, too."""


@lru_cache(maxsize=256)
def steady_rows(outputs: int, inputs: int, dtype: torch.dtype, device: str) -> int:
    """Return the smallest number of rows from which on rows do not depend on their number.

    Args:
        outputs: Number of rows of the weight.
        inputs: Number of columns of the weight, the addends of a sum.
        dtype: Type of the product.
        device: Device of the product.

    Returns:
        A number from 1 to `MOST_ROWS`; `MOST_ROWS` also if some larger product differs.
    """
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(outputs, inputs, generator=generator).to(device, dtype)
    rows = torch.randn(max(_MORE) + 8, inputs, generator=generator).to(device, dtype)
    whole = F.linear(rows, weight)

    def steady(count: int) -> bool:
        return torch.equal(F.linear(rows[:count], weight), whole[:count])

    if not all(map(steady, _MORE)):
        return MOST_ROWS
    least = MOST_ROWS
    while least > 1 and steady(least - 1):
        least -= 1
    return least

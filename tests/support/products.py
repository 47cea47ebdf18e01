"""Whether this machine's matrix products have the property that batch-invariant engines rely on."""

import pytest


def require_invariant_products() -> None:
    """Skip if a row of a product with four or more rows depends on the number of rows."""
    import torch
    from torch.nn.functional import linear

    rows, weight = torch.randn(64, 96), torch.randn(48, 96)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in ranks and engines on a CPU
    try:
        whole = linear(rows, weight)
        same = all(torch.equal(linear(rows[:n], weight), whole[:n]) for n in range(4, 64))
    finally:
        torch.set_num_threads(threads)
    if not same:
        pytest.skip("on this processor, a row of a product depends on the number of rows")

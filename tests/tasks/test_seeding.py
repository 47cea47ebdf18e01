"""Seeds have addresses."""

import subprocess
import sys

import numpy as np

from hexathlon.tasks.seeding import derive_seed, generator_for


def test_golden_values_hold_on_every_machine():
    # printf 'str3:sql;str4:test;int2:42;' | sha256sum: the first 16 digits, halved
    assert derive_seed("sql", "test", 42) == 8348992585363222862
    assert derive_seed() == 8203414616412130826


def test_type_order_and_boundaries_matter():
    parts = [("a", "bc"), ("ab", "c"), ("bc", "a"), ("abc",), (1,), ("1",), (11,), (1, 1)]
    assert len({derive_seed(*p) for p in parts}) == len(parts)


def test_seeds_fit_into_63_bits():
    assert all(0 <= derive_seed("x", i) < 2**63 for i in range(500))


def test_another_process_draws_the_same():
    code = (
        "from hexathlon.tasks.seeding import generator_for;"
        "print(generator_for('a', 7).integers(1 << 40, size=5).tolist())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == str(generator_for("a", 7).integers(1 << 40, size=5).tolist())


def test_the_global_state_is_not_changed():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    generator_for("x").random(100)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002

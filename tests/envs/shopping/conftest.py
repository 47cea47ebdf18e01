"""A separate directory for catalogues built by the tests."""

from collections.abc import Iterator

import pytest

from support.shop import cached_in, shared_folder


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with cached_in(shared_folder(tmp_path_factory)):
        yield

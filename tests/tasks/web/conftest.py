"""Tests of this folder look at the same tasks; most of their time would go into drawing them."""

from collections.abc import Iterator

import pytest

from hexathlon.tasks.web import source
from support.drafts import kept_drafts


@pytest.fixture(autouse=True, scope="session")
def _drafts() -> Iterator[None]:
    with kept_drafts(source):
        yield

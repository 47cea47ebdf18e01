"""Induction heads planted in an untrained model: it copies, and training continues from there."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.warmstart.initial import ModelShape, make_model

SHAPE = ModelShape(512, 128, 2, 4, 2, 64, 256, 512, 1e6, induction=1)


def copied(model: object, seed: int, distance: int = 120) -> float:
    """Share of correctly predicted tokens in the second reading of a random text."""
    text = torch.randperm(512, generator=torch.Generator().manual_seed(seed))[:distance]
    ids = torch.cat([text, text])[None]
    with torch.no_grad():
        told = model(ids).logits[0, distance:-1].argmax(-1)
    return float((told == ids[0, distance + 1 :]).float().mean())


@pytest.mark.parametrize("seed", range(3))
def test_initial_model_copies_its_context(seed: int) -> None:
    from dataclasses import replace

    assert copied(make_model(SHAPE, 512, seed), seed) > 0.9
    assert copied(make_model(replace(SHAPE, induction=0), 512, seed), seed) < 0.1


@pytest.mark.parametrize("seed", range(3))
def test_longer_induction_memory_copies_names_with_shared_prefixes(seed: int) -> None:
    from dataclasses import replace

    def names_copied(memory: int) -> float:
        model = make_model(replace(SHAPE, heads=4, kv_heads=4, induction=memory), 512, seed)
        draw = torch.Generator().manual_seed(seed)
        first, second = torch.randint(12, (40,), generator=draw), 12 + torch.randperm(400)[:40]
        text = torch.stack([torch.full((40,), 500), first, second], 1).flatten()
        ids = torch.cat([text, text])[None]
        with torch.no_grad():
            told = model(ids).logits[0, len(text) : -1].argmax(-1)
        return float((told == ids[0, len(text) + 1 :]).float().mean())

    assert names_copied(1) < 0.6
    assert names_copied(3) > 0.9


def test_the_same_seed_gives_the_same_model() -> None:
    first, second = (make_model(SHAPE, 512, 4).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(
    "change",
    [{"layers": 1}, {"rope_theta": 1.0}, {"width": 64}, {"head_width": 8}, {"induction": 3}],
)
def test_too_small_shape_is_rejected(change: dict[str, float]) -> None:
    from dataclasses import replace

    with pytest.raises(ValueError, match="change the shape"):
        make_model(replace(SHAPE, **change), 512, 0)

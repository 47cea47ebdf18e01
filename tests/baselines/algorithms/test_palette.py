"""Reasoning Palette: the loss of the autoencoder, its fit, and the share of prefixes."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.palette import (
    PaletteVae,
    fit_palette,
    gaussian_divergence,
    palette_loss,
    pooled_pair,
    prefix_share,
)

WIDTH, TOKENS, LATENT = 12, 3, 4


def pairs(count: int = 48):
    """Pooled embeddings of two kinds of pairs."""
    generator = torch.Generator().manual_seed(3)
    kinds = torch.randn(2, WIDTH, generator=generator)[torch.arange(count) % 2]
    return kinds + 0.1 * torch.randn(count, WIDTH, generator=generator) + 2.0


def test_the_divergence_is_that_of_diagonal_gaussians() -> None:
    mean, deviation = torch.tensor([[1.0, -2.0], [0.0, 0.0]]), torch.tensor([[0.5, 3.0], [1, 1]])
    found = gaussian_divergence(mean, 2 * deviation.log())
    by_hand = (1 + 0.25 - 1 - math.log(0.25)) / 2 + (4 + 9 - 1 - math.log(9)) / 2
    assert found[0].item() == pytest.approx(by_hand, rel=1e-6) and found[1] == 0
    own, prior = torch.distributions.Normal(mean, deviation), torch.distributions.Normal(0.0, 1.0)
    assert torch.allclose(found, torch.distributions.kl_divergence(own, prior).sum(-1))


def test_the_loss_of_a_known_autoencoder() -> None:
    """Its posterior is constant, and the mean of the prefix of z is (3 z + 6) / 2."""
    vae = PaletteVae(2, 2, 1)
    with torch.no_grad():
        for layer in (*vae.encoder, *vae.decoder):
            for weight in layer.parameters():
                weight.zero_()
        vae.encoder[2].bias.copy_(torch.tensor([0.5, math.log(4.0)]))
        # GELU is the identity far from 0, up to rounding.
        vae.decoder[0].weight.fill_(1.0)
        vae.decoder[0].bias.fill_(100.0)
        vae.decoder[2].weight.copy_(torch.tensor([[3.0, 0], [0, 0], [0, 0], [0, 0]]))
        vae.decoder[2].bias.copy_(torch.tensor([-300.0, 0.0, 6.0, 0.0]))
        vae.centre.copy_(torch.tensor([1.0, 0.0]))
        vae.scale.copy_(torch.tensor([2.0, 1.0]))
    pooled, noise = torch.tensor([[5.0, 2.0], [1.0, 0.0]]), torch.tensor([[1.0], [0.0]])
    parts = palette_loss(vae, pooled, noise, 0.25)
    latents = [0.5 + 2.0, 0.5]
    wanted = np.mean([
        ((2.0 - (3 * latents[0] + 6) / 2) ** 2 + 2.0**2) / 2, ((3 * latents[1] + 6) / 2) ** 2 / 2
    ])  # fmt: skip
    divergence = (0.25 + 4 - 1 - math.log(4.0)) / 2
    assert parts.reconstruction.item() == pytest.approx(wanted, rel=1e-4)
    assert parts.divergence.item() == pytest.approx(divergence, rel=1e-6)
    assert parts.loss.item() == pytest.approx(wanted + 0.25 * divergence, rel=1e-4)


def test_a_fit_depends_on_its_seed_alone() -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first, again, other = (fit_palette(pairs(), TOKENS, LATENT, 1.0, 20, s) for s in (5, 5, 6))
    assert torch.equal(torch.get_rng_state(), before)
    states = [vae.state_dict() for vae in (first, again, other)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert not torch.equal(states[0]["decoder.0.weight"], states[2]["decoder.0.weight"])
    assert not any(weight.requires_grad for weight in first.parameters())


def test_a_fit_reconstructs_and_the_prior_covers_the_pairs() -> None:
    pooled = pairs()
    noise = torch.zeros(len(pooled), LATENT)
    started, fitted = (fit_palette(pooled, TOKENS, LATENT, 0.1, steps, 0) for steps in (1, 400))
    losses = [palette_loss(vae, pooled, noise, 0.1) for vae in (started, fitted)]
    assert losses[1].reconstruction < 0.5 * losses[0].reconstruction and losses[1].divergence > 0.1
    latents = torch.randn(64, LATENT, generator=torch.Generator().manual_seed(0))
    prefixes = fitted.prefix(latents)
    assert prefixes.shape == (64, TOKENS, WIDTH)
    near = torch.cdist(prefixes.mean(1), pooled).min(1)
    assert len({int(number) % 2 for number in near.indices}) == 2  # both kinds are drawn
    assert near.values.median() < torch.cdist(pooled[:1], pooled[1:2]).item()


def test_a_large_beta_makes_the_posterior_the_prior() -> None:
    vae = fit_palette(pairs(), TOKENS, LATENT, 1e3, 400, 0)
    assert palette_loss(vae, pairs(), torch.zeros(48, LATENT), 1.0).divergence < 0.01


def test_question_and_answer_weigh_equally() -> None:
    embeddings = torch.tensor([[1.0], [2.0], [3.0], [10.0]])
    answer = torch.tensor([False, False, False, True])
    assert pooled_pair(embeddings, answer).item() == 6.0


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [("linear", [0.8, 0.6, 0.4, 0.2, 0, 0]), ("two_phase", [0.8, 0.8, 0.8, 0.8, 0, 0])],
)
def test_the_share_decays(schedule, wanted) -> None:
    found = [prefix_share(0.8, schedule, 0.5, step / 8) for step in range(6)]
    assert found == pytest.approx(wanted)

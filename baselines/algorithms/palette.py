"""Reasoning Palette: latent variables of question-answer pairs that steer whole rollouts.

A variational autoencoder is fitted to mean-pooled embeddings of questions with their answers. Its
decoder turns a draw from the prior into the embeddings of a soft prefix, and the policy reads the
prefix before its prompt. The share of rollouts with a prefix decays during training.

Source: Reasoning Palette (Long et al. 2025, arXiv 2512.17206). Chosen here, since we know no
formula: pooling weighs question and answer equally; the decoder gives all embeddings of a prefix at
once, and their mean is the reconstruction; encoder and decoder have one hidden layer.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

__all__ = ["PaletteLoss", "PaletteVae", "Schedule", "fit_palette", "gaussian_divergence",
           "palette_loss", "pooled_pair", "prefix_share"]  # fmt: skip

Schedule = Literal["linear", "two_phase"]

_BATCH = 64
_LEARNING_RATE = 3e-3


def prefix_share(share: float, schedule: Schedule, until: float, progress: float) -> float:
    """Return the share of a step's rollouts that get a prefix.

    Args:
        share: That of the first step.
        schedule: `linear` falls to 0 at `until`, `two_phase` stays and is 0 from there on.
        until: Share of the run's steps after which no rollout gets a prefix, above 0.
        progress: Share of the run's steps before this one.
    """
    left = 1.0 - progress / until
    if left <= 0:
        return 0.0
    return share * left if schedule == "linear" else share


def pooled_pair(embeddings: Tensor, answer: Tensor) -> Tensor:
    """Return half the mean embedding of the question plus half that of the answer, `[width]`.

    Args:
        embeddings: Of all tokens of an episode, `[tokens, width]`.
        answer: Which tokens the policy or a demonstration wrote, `[tokens]`; the others, such as
            observations, count as question.
    """
    return (embeddings[answer].mean(0) + embeddings[~answer].mean(0)) / 2


class PaletteVae(nn.Module):
    """A variational autoencoder from pooled embeddings to soft prefixes.

    Args:
        width: Width of the policy's embeddings.
        tokens: Soft tokens of a prefix.
        latent: Size of the latent variable.
    """

    centre: Tensor
    scale: Tensor

    def __init__(self, width: int, tokens: int, latent: int) -> None:
        super().__init__()
        self.width, self.tokens, self.latent = width, tokens, latent
        self.encoder = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2 * latent)
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent, width), nn.GELU(), nn.Linear(width, tokens * width)
        )
        self.register_buffer("centre", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))

    def standardised(self, pooled: Tensor) -> Tensor:
        """Return pooled embeddings with the mean 0 and the deviation 1 of the fitted ones."""
        return (pooled - self.centre) / self.scale

    def posterior(self, pooled: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance of the latent variables, `[..., latent]` each.

        Args:
            pooled: `[..., width]`.
        """
        mean, log_variance = self.encoder(self.standardised(pooled)).chunk(2, -1)
        return mean, log_variance

    def decode(self, latents: Tensor) -> Tensor:
        """Return standardised embeddings of prefixes, `[..., tokens, width]`."""
        decoded: Tensor = self.decoder(latents)
        return decoded.view(*latents.shape[:-1], self.tokens, self.width)

    def prefix(self, latents: Tensor) -> Tensor:
        """Return the embeddings of prefixes, `[..., tokens, width]`."""
        return self.centre + self.scale * self.decode(latents)


class PaletteLoss(NamedTuple):
    """Means over pairs."""

    loss: Tensor
    reconstruction: Tensor
    divergence: Tensor


def gaussian_divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return the KL divergence of diagonal Gaussians from the standard one, `[...]`, in nats."""
    return (mean**2 + log_variance.exp() - 1.0 - log_variance).sum(-1) / 2


def palette_loss(vae: PaletteVae, pooled: Tensor, noise: Tensor, beta: float) -> PaletteLoss:
    """Return the reconstruction error plus `beta` times the divergence from the prior.

    The error is half the squared distance between a pooled embedding and the mean of its prefix,
    both standardised: with `beta` 1, the negative evidence bound of a unit Gaussian, up to a
    constant.

    Args:
        vae: The autoencoder.
        pooled: `[pairs, width]`.
        noise: Standard normal, `[pairs, latent]`.
        beta: Weight of the divergence.
    """
    mean, log_variance = vae.posterior(pooled)
    decoded = vae.decode(mean + (log_variance / 2).exp() * noise).mean(-2)
    reconstruction = ((vae.standardised(pooled) - decoded) ** 2).sum(-1).mean() / 2
    divergence = gaussian_divergence(mean, log_variance).mean()
    return PaletteLoss(reconstruction + beta * divergence, reconstruction, divergence)


def fit_palette(
    pooled: Tensor, tokens: int, latent: int, beta: float, steps: int, seed: int
) -> PaletteVae:
    """Fit an autoencoder with Adam and freeze it; a function of its arguments.

    Args:
        pooled: Pooled embeddings, `[pairs, width]`.
        tokens: Soft tokens of a prefix.
        latent: Size of the latent variable.
        beta: Weight of the divergence.
        steps: Steps, each on at most 64 pairs.
        seed: Seed of initial weights, batches and noise.
    """
    pooled = pooled.float()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        vae = PaletteVae(pooled.shape[1], tokens, latent)
        vae.centre.copy_(pooled.mean(0))
        vae.scale.copy_(pooled.std(0, correction=0).clamp(min=1e-6))
        optimiser = torch.optim.Adam(vae.parameters(), lr=_LEARNING_RATE)
        for _ in range(steps):
            chosen = pooled[torch.randperm(len(pooled))[:_BATCH]]
            noise = torch.randn(len(chosen), latent)
            optimiser.zero_grad()
            palette_loss(vae, chosen, noise, beta).loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return vae.eval().requires_grad_(False)

"""Functions for analyses of training signals. Training neither calls nor reports them."""

import numpy as np

from hexathlon.baselines.algorithms.samples import Array

__all__ = ["distillation_alignment", "success_gradient", "teacher_gradient"]


def success_gradient(policy: Array, success: Array) -> Array:
    """Return the gradient of the expected success with respect to the logits, `[..., tokens]`.

    g(a) = p(a) (Q(a) - V), V = sum over a of p(a) Q(a).

    Args:
        policy: Probabilities of the next token.
        success: Q(a), the success rate of rollouts that continue with each token.
    """
    value = (policy * success).sum(-1, keepdims=True)
    return np.asarray(policy * (success - value))


def teacher_gradient(policy: Array, teacher: Array) -> Array:
    """Return the descent direction of KL(policy, teacher) with respect to the logits.

    g(a) = p(a) (log t(a) / p(a) - sum over b of p(b) log t(b) / p(b)); this is what on-policy
    distillation follows.
    """
    gap = np.log(np.maximum(teacher, 1e-30)) - np.log(np.maximum(policy, 1e-30))
    return np.asarray(policy * (gap - (policy * gap).sum(-1, keepdims=True)))


def distillation_alignment(policy: Array, teacher: Array, success: Array) -> Array:
    """Return whether a teacher's signal raises success, by token, from -1 to 1, `[...]`.

    The cosine of the two gradients above (the diagnostic of "Unmasking On-Policy Distillation");
    0 where one of them is 0. Chosen here: gradients with respect to the logits; Q(a) comes from
    rollouts forked at the token, such as the leaves below the children of a tree's node.

    Args:
        policy: Probabilities of the next token, `[..., tokens]`.
        teacher: The same of the teacher.
        success: Success rates after each token.

    Raises:
        ValueError: If the shapes differ.
    """
    if not policy.shape == teacher.shape == success.shape:
        raise ValueError(
            f"expected arrays of one shape, got {policy.shape}, {teacher.shape} and {success.shape}"
        )
    ideal, given = success_gradient(policy, success), teacher_gradient(policy, teacher)
    norms = np.linalg.norm(ideal, axis=-1) * np.linalg.norm(given, axis=-1)
    return np.asarray(
        np.where(norms > 1e-15, (ideal * given).sum(-1) / np.maximum(norms, 1e-15), 0)
    )

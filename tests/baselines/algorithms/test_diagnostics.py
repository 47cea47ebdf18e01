"""The diagnostic of on-policy distillation: gradients by finite differences, and extreme cases."""

import numpy as np
import pytest
import torch

from hexathlon.baselines.algorithms.diagnostics import (
    distillation_alignment,
    success_gradient,
    teacher_gradient,
)

LOGITS = torch.tensor([[0.2, -0.5, 1.0], [0.0, 0.3, -0.3]], dtype=torch.float64)
POLICY = LOGITS.softmax(-1).numpy()
SUCCESS = np.array([[0.9, 0.1, 0.2], [0.0, 0.5, 1.0]])
TEACHER = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]])


def test_gradients_agree_with_automatic_ones():
    logits = LOGITS.clone().requires_grad_()
    policy = logits.softmax(-1)
    (policy * torch.as_tensor(SUCCESS)).sum().backward()
    assert success_gradient(POLICY, SUCCESS) == pytest.approx(logits.grad.numpy())
    logits = LOGITS.clone().requires_grad_()
    policy = logits.softmax(-1)
    (-(policy * (policy.log() - torch.as_tensor(TEACHER).log())).sum()).backward()
    assert teacher_gradient(POLICY, TEACHER) == pytest.approx(logits.grad.numpy())


def test_alignment_of_good_bad_and_absent_teachers():
    good = POLICY * np.exp(SUCCESS)  # the optimum of success less KL
    good /= good.sum(-1, keepdims=True)
    assert distillation_alignment(POLICY, good, SUCCESS) == pytest.approx([1.0, 1.0])
    bad = POLICY * np.exp(-SUCCESS)
    bad /= bad.sum(-1, keepdims=True)
    assert distillation_alignment(POLICY, bad, SUCCESS) == pytest.approx([-1.0, -1.0])
    assert distillation_alignment(POLICY, POLICY, SUCCESS).tolist() == [0.0, 0.0]
    assert distillation_alignment(POLICY, TEACHER, np.ones((2, 3))).tolist() == [0.0, 0.0]
    mixed = distillation_alignment(POLICY, TEACHER, SUCCESS)
    assert mixed[0] > 0 > mixed[1]
    with pytest.raises(ValueError, match=r"got \(2, 3\), \(2, 3\) and \(3,\)"):
        distillation_alignment(POLICY, TEACHER, np.ones(3))

"""The rollout pipeline: which rollouts a step plays, and which of them reach the learner.

Four stages, each a registry of small functions that a recipe names. *Generate*: samplers choose
tasks, allocators divide the rollouts among them, structures fork them, hints start them part of the
way. *Filter*: shapings change rewards, filters drop groups and rollouts. *Control*: budgets of
turns and of batches. *Replay*: groups and successes of earlier steps join the fresh ones.

It knows no estimator, loss or optimiser: what groups are worth is decided in `algorithms` and
`learner`. It knows no engine either: rollouts are played by the executor it is given.
"""

"""The rollout pipeline: which rollouts a step plays, and which of them reach the learner.

It has four stages of small functions that a recipe names. *Generate*: samplers choose tasks,
allocators divide the rollouts among them, structures fork rollouts, hints start them from an
oracle's actions. *Filter*: shapings change rewards, filters drop groups and rollouts. *Control*:
limits on turns and batches. *Replay*: groups and successes of earlier steps are reused.

Independent of estimators, losses and optimisers, which are in `algorithms` and `learner`, and of
engines: the caller passes in the executor that plays the rollouts.
"""

"""Training runs: from a recipe to a checkpoint, a learning curve and records.

Recipes, demonstrations, cloning, the training loop, evaluation and exact resumption. Formulas are
in `algorithms`, parameter updates in `learner`, rollouts in `rollout`.
"""

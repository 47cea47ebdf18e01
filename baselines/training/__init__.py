"""Training runs: from a recipe to a checkpoint, a learning curve and records.

Recipes, the training step, evaluation during training and exact resumption. It only combines the
other packages: formulas are in `algorithms`, the stages around rollouts in `pipeline`, parameter
updates in `learner`, initial policies in `warmstart`, processes in `distributed`.
"""

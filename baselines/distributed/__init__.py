"""Distributed training: rank processes, collectives, and transports of weights to engines.

Collectives over torch.distributed implement the protocol in `learner.ranks`; the launcher starts
rank processes, each with the name of a function to run. It does not depend on recipes, tasks or
algorithms. Executors of rollouts are in `rollout`.
"""

"""Rollouts: an agent plays a task in an environment, and a trajectory comes out.

One coroutine serves evaluation and training: attempts with retries and budgets, prefixes from which
rollouts continue or fork, and executors that play many at once. How turns are chosen is left to
agents, what samples are made of trajectories to training, and files of records to the harness.
"""

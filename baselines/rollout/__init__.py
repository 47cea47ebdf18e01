"""Rollouts: an agent plays a task in an environment, which gives a trajectory.

Evaluation and training share one coroutine: attempts with retries and budgets, prefixes from which
rollouts continue or fork, and executors that play many at once. Choosing actions is left to
`agents`, turning trajectories into samples to training, and writing records to the harness.
"""

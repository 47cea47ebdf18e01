"""Rollouts, evaluation and training on many machines, through Ray.

The package connects to a cluster, places named pools of processes on its nodes, and implements the
same interfaces as the single-process code. It is the only package that imports ray, and is itself
imported only if a cluster is requested. It does not start clusters beyond this machine, and does
not depend on tasks, algorithms or the order in which rollouts are needed.
"""

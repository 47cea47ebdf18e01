"""Templates of the shopping event: each makes one kind of task from a scene.

Ids, splits and the proof that a task can be solved are left to `hexathlon.tasks.shopping.source`.
"""

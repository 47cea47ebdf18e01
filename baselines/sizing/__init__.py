"""Sizing: how long a training step takes on given hardware, and how to divide the GPUs.

Arithmetic on a model's shape, a workload and a device; the workload of a real run is read from its
metrics and records. Independent of trainers, engines and clusters; starts nothing.
"""

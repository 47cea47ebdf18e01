"""Kernels in C for a CPU, and their compilation on the machine that uses them.

Independent of models, engines and learners.
"""

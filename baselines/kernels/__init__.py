"""Kernels in C for a CPU, compiled on the machine that uses them. Independent of models."""

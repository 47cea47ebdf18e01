"""Inference engines: chat servers, the torch engine in this process, and vLLM servers.

An engine continues messages or tokens and reports usage, log-probabilities and versions. Engines
know no environment, no tool-call format and no training step.
"""

"""Environments with one planted fault each; the conformance kit must detect every one."""

"""Kernels that fail while they are tuned."""

"""Asserts on an index, on the GPU and on the CPU."""

"""Weights and buffers: missing, unknown, damaged or too large."""

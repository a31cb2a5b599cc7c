"""Triton and ptxas cannot compile a kernel."""

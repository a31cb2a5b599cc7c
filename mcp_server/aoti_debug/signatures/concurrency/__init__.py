"""Threads, streams, processes, CUDA graphs and hangs."""

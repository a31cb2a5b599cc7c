"""Find the fault in a PyTorch model compiled ahead of time (AOTInductor)."""

__version__ = "0.1.0"

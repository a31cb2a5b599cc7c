"""GPU kernels whose binary is not found or not for this GPU."""

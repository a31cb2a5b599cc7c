"""Windows, macOS, and GPUs that are not NVIDIA's."""

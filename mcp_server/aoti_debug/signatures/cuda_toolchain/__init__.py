"""The CUDA toolkit, driver and Triton that compiling for a GPU needs."""

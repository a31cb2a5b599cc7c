"""What CUDA says of a kernel that failed."""

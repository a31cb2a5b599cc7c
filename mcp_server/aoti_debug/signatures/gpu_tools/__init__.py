"""Findings of compute-sanitizer and of GPU core dumps."""

"""The script's own errors, its settings, and debugging tools that fail."""

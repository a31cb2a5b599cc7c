"""What a compiled package says without being loaded."""

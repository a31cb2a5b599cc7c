"""The user's own operators."""

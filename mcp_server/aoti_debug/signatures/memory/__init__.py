"""Memory that ran out."""

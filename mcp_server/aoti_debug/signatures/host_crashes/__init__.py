"""Deaths of the process on the host."""

"""Inductor cannot translate the model."""

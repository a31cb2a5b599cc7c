"""Readers: pure functions from text to records. No processes, no clock."""

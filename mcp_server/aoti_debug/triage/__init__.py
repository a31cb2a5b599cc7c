"""The road from a failing target to a diagnosis: first run, replays, stages."""

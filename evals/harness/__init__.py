"""Cases with a hidden truth, agents that are tried on them, and what their answers are worth."""

"""What this machine and the user's torch are like, and what would break before a script runs."""

from aoti_debug.environment.gather import environment, installed

__all__ = ["environment", "installed"]

"""What the library needs from torch, the C++ runtime and the system."""

"""From a kernel, an assertion or a value to the model's line and the reason. Pure."""

"""Tell whether a fix is one."""

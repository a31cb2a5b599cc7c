"""The commands: what each takes, prints and ends with."""

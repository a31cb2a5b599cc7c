"""The package file: damaged, missing, or of another kind or version."""

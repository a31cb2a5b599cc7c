"""Inputs that are not what the package was compiled for."""

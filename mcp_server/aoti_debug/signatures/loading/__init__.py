"""Unpacking a package and opening its library."""

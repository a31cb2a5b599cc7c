"""Exporting, and calls of the export and compile functions with the wrong things."""

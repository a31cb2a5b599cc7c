"""Sizes that vary: constraints of export, size symbols, asserts at run time."""

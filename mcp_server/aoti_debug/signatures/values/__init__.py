"""Results that are not a number or not those of eager."""

"""A reproduction that is small, stands alone and fails alike."""

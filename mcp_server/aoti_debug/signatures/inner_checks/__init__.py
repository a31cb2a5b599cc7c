"""Guards, operators and calls inside the model that reject what reaches them."""

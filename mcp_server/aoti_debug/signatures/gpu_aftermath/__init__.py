"""What fails because a GPU fault came before it."""

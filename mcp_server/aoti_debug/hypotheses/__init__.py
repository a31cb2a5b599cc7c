"""What can be the cause: one module a kind, with what its experiments mean and the words for it."""

"""What is tried on captured calls: which calls are repeated, and what is taken away from each."""

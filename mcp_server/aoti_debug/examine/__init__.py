"""Look into a package that exists, in one process of the user's interpreter."""

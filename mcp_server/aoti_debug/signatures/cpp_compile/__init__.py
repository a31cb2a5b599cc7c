"""The generated C++ does not compile."""

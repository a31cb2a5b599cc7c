"""The C++ compiler, headers, linker and disk that compiling needs."""

"""Facts about torch as tables: stages, environment variables, phases, categories."""

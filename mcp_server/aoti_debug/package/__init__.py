"""What a compiled package says without being loaded.

`inspect.inspect` reads it, `inspect.answer` also renders it, `contract` holds calls against it,
`compatibility` holds it against a machine.
"""

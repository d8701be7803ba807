"""The command line: one module per family of commands, no logic in it.

`CLI-1` to `CLI-6`, `CLI-13` to `CLI-16`.
"""

"""The command line: one module per family of commands, no logic of its own (`CLI-1` to `CLI-16`)."""

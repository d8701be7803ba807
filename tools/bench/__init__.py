"""The bench: what a governed, durable action costs, always beside the bare floor of the same run."""

"""What maintains the project: bench, formal check, traceability, bootstrap. Not part of the package."""

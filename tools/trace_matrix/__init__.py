"""Reads the ids of clauses out of spec, model, code and tests, and lays the four beside each other."""

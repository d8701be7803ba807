"""How ``tools/check_formal.py`` runs the model checker: standard library only."""

"""Generate corpora by grammars, so that the right outputs are known."""

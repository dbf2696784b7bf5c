"""Load corpora by name from files or the Hub: splits, cleaning, leaks."""

"""Corpora by name: files, the Hub, splits, cleaning, leaks."""

"""Derive stored results again, and report each mismatch."""

"""Measure a trained run, and return the record of it."""

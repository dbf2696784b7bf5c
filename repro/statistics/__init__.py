"""Scores of translations, and how sure they and their differences are."""

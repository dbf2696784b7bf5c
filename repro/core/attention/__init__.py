"""The attention variants of the five papers: who attends to what, and how much."""

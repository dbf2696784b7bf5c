"""Teach with the tutorials: exercises that explain mistakes, handing out, grading, the quiz."""

"""The attention variants of the five papers behind one interface: who attends to what, how much."""

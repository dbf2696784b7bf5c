"""Prune heads by L0 gates, and cut the smaller model out (Voita et al. 2019, section 6)."""

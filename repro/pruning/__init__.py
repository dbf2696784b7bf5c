"""Prune heads by L0 gates, and build the smaller model (Voita et al. 2019, section 6)."""

"""Runs: train, save, resume and load models in folders named by their configuration."""

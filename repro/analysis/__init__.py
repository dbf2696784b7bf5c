"""Tools that look inside a trained model."""

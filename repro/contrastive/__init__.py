"""Make, read and score contrastive suites: right and wrong translations of a source."""

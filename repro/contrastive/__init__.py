"""Contrastive pairs: suites of right and wrong translations, and how a model scores them."""

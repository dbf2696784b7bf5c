"""Records of results: their schema, tables of sentences, manifest, reports."""

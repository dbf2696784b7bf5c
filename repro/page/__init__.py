"""Models in a web page: an engine in plain JavaScript, and what writes a model into one file."""

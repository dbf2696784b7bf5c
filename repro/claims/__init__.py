"""Claims of the papers: systems, conditions, and the evidence in the records."""

"""The site: notebooks, results and documentation as pages, with a translator to break."""

"""Speed against other toolkits and between variants, as ratios measured in one sitting; `make bench` runs it."""

"""Measure speed against other toolkits and between variants; `make bench` runs it.

Results are ratios within one session of measurement.
"""

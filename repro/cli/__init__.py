"""The commands of `repro`.

Their bodies import what they need, so that mistakes in arguments are answered before torch is
loaded.
"""

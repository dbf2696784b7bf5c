"""The commands of `repro`. Their bodies import what they need, so that a mistake in the arguments is answered before torch is loaded."""

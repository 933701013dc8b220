"""Concrete numbers at which statements are tried: sizes, facts, draws, and what a point tells."""

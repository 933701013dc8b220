"""Symbolic derivation and verified exam solutions."""

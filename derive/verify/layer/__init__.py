"""Proofs by ring identities."""

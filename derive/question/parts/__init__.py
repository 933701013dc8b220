"""Layers that words name: which parts, in what order, with which options; and that every one is accounted for."""

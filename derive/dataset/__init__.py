"""Data that is verified: layers drawn over the catalogue, with right solutions and wrong ones, told apart by the check.

A row is a function of a seed and a number: of the same two the same bytes, wherever and whenever it is made.
"""

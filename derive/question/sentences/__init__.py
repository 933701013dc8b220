"""A question sentence by sentence: read only where rows take every token of it."""

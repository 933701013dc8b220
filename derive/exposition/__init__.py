"""From a derivation to its sheet: which statements, in which order, with which words."""

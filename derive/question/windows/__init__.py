"""Windows as words, formulas and front matter say them, weighed against each other."""

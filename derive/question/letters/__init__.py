"""What letters are, as words and formulas say it: names, roles, functions, claims, facts, samples."""

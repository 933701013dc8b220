"""What the formulas of a solution say: claims, definitions and conditions in the letters of the question."""

"""A question's text: its words as concepts of a lexicon, its prose without markup, its formulas."""

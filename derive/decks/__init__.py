"""Where people keep their cards: files that hold the cards of a whole run."""

"""What sentences say, one after the other, as values of a network."""

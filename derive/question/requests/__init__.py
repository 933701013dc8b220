"""What a question asks for, and what its words except from it."""

"""What was told, as a statement and its module; and what is asked, held against what the module answers."""

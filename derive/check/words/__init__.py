"""What the words around an equation say: where it holds, of what layer, of which terms, whether at all."""

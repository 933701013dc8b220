"""From formulas to the layer that they compute: definitions, their order, the letters given, sizes and ranges."""

"""What attacks cost at any size: formulas of the literature and of this lab, each with its source."""

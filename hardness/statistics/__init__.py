"""What is made of several runs: means with their intervals, and least squares for neighbours that err alike."""

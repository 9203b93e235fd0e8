"""The study `needs`: queries and tolerance together, for every number of heads."""

"""How a measured cost grows: cells, models, their fit and what may be said of it."""

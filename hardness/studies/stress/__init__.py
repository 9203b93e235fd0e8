"""The study `stress`: every learner on hard and on nice layers as m grows, within equal budgets."""

"""The study `wall`: one attention student, same size and budget, on hard and on nice layers, as m grows."""

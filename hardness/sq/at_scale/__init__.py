"""Games too big to play query by query, in closed form per query; tests hold them to `hardness.sq.game`."""

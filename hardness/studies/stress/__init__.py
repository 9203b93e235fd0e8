"""The study `stress`: how many examples every learner needs on every family at m heads."""

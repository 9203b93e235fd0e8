"""The studies `who-wins` and `ladder`: which strategy, learner or attack solves which family at m heads."""

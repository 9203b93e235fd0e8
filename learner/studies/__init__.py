"""The studies of learners, one file each; `hardness study list` finds them by their entry point."""

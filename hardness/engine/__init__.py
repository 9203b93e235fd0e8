"""Studies: named grids of trials, run to rows on disk, fitted, and shown as a page."""

"""What shows rows: the article of a committed table, the dashboard of any others, and figures of the lab."""

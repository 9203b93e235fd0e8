"""The studies of the lab: each with its question, tasks, trial, table and page in one place."""

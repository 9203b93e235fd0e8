"""Learners on instances: the judge, what a learner is handed, what its report must hold."""

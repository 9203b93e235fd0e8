"""Statistical-query algorithms: which query to ask next, given the concepts still possible."""

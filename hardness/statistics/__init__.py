"""How a measured cost grows: its cells, what is estimated from them, the verdict, and how often the verdict errs.

`cells` holds the runs, `models` the laws and their censored fit, `fit` the estimates, `verdict` the rule and its words,
`calibration` the frequencies of those words on costs of known growth.
"""

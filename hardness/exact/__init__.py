"""What a query can lose of parities, played, bracketed and certified in rationals (theory 2.7, 2.8).

Only the studies of games and `sq value` and `sq certify` import this; the strategy `flat` is found by name.
"""

"""The exact room: what a query can lose of parities, played, bracketed and certified in rationals (theory 2.7, 2.8).

Only the studies of games and the commands `sq value` and `sq certify` import it; its strategy `flat` is found
by name.
"""

"""The study `exponential-in-m`: does the cost of learning grow exponentially in the number of heads?"""

"""The study `lattices`: how far do a lattice attack and integer BKW get on rounding, and was that predicted?"""

"""Strangers' code runs apart: in a process that holds arrays and nothing else, fenced where the system allows it.

Each process that runs trials keeps a server, started by exec in an empty folder; the server forks a child a trial and
ends it with all that it started. `lab` is the lab's side, `child` the other one, `wire` what goes between them, `fence`
what a child of a stranger may touch. SECURITY.md says what this does not prevent.
"""

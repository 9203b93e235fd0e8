"""What linear attention learns to execute: automata and a universal machine."""

"""What statistical queries cannot do: attacks that look at single examples, and what they cost."""

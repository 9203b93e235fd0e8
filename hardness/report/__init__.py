"""What every page shares: drawings, tables, templates."""

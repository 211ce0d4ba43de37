"""Model families: what a family's parsers change in a rendered request."""

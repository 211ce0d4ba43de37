"""The wire: what a request may hold and what an answer holds. pydantic ends here."""

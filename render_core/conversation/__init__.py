"""Messages, tools and variables as chat templates want them, from what clients send."""

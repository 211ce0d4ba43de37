"""HTTP, command line and AWS around `render_core`: parse, call the core, answer. No token is seen here."""

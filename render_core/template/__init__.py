"""Chat templates: compiled once, rendered in a sandbox under a budget; the text is what transformers would produce."""

"""What is decided once, when a model is loaded: files, limits, templates, tokenizer, defaults."""

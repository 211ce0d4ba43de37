"""Text to token ids, exactly as the engine's own tokenizer computes them."""

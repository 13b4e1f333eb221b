"""How a tokenizer cuts a text, step by step; every end is held against the library's own."""

"""What a language model sees: the constant head, the window of the conversation, fenced content."""

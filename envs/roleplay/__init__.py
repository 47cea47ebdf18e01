"""Role-play event: one character, one other speaker, and typed acts beside the prose."""

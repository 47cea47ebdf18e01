"""Linux system interfaces used by the sandboxes; standard library only, and cheap to import."""

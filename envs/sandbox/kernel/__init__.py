"""What the sandboxes ask of Linux, by system call; standard library only, and cheap to import."""

"""Where it happens: one gymnasium environment per family on a shared base."""

"""What a played character is worth: typed acts, prose, secrets, style and goals, by rule."""

"""Rule-based verifiers of the role-play event: typed acts, prose, secrets, style and goals."""

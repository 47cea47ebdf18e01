"""Templates of role-play tasks: each turns a card into beats, or into a game with a pay-off."""

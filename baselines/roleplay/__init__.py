"""What only role-play needs of models: one in the place of the other speaker."""

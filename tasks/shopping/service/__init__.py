"""Customer service: orders, customers, the policy, and rulings on requests."""

"""Customer service: orders, customers, policy, and what a request comes to under it."""

"""Who acts: agents, engines, rollouts and the evaluation harness."""

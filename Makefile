# Two commands, each sufficient on a fresh machine with Python >= 3.11:
#   make demo    evaluate agents on every event, train a small policy, and build a leaderboard page
#   make test    lint, types and every test except the slow ones and those of `make test-product`
# `make test-product` tests the wheel, the documentation site and the demo as users get them.
# `make test-vllm` runs the tests against a real vLLM in a separate environment (2.4 GB).
PYTHON ?= python3
CONSTRAINTS ?= constraints.txt
export PYTHON CONSTRAINTS

.PHONY: demo leaderboard test check test-product test-slow test-oracles test-vllm test-bridges bench clean

demo:
	@scripts/install --train
	@scripts/demo

# The project's own board and its site; TESTS=report.xml or TESTS=run fills the self-assessment.
leaderboard:
	@scripts/install --dev
	@scripts/leaderboard

test:
	@scripts/install --dev
	@scripts/check
	@scripts/test

check:
	@scripts/install --dev
	@scripts/check

test-product:
	@scripts/install --dev
	@scripts/test -m 'product and not slow' tests/test_wheel.py tests/test_site.py tests/test_demo.py

# With EXPLORE, property tests draw other examples in every run.
test-slow:
	@scripts/install --dev
	@EXPLORE=1 WORKERS=0 scripts/test -m 'slow or hypothesis'

# Compares our formulas with TRL's, verl's and torchrl's functions, in a separate environment.
test-oracles:
	@scripts/install --dev
	@scripts/oracles

test-vllm:
	@scripts/install --dev
	@scripts/vllm

# The doors to other tools with the real packages, an environment each in .venv-bridges.
test-bridges:
	@scripts/bridges

# One table of the benchmarks with a target or a peer, docs/notes/performance_table.md:
# make bench PEERS=FOLDER, where `scripts/peers FOLDER` has made the peers' environments. Takes 25
# minutes on two idle cores.
ROUNDS ?= 5
bench:
	@scripts/install --dev
	.venv/bin/python benchmarks/table.py --rounds $(ROUNDS) $(if $(PEERS),--peers $(PEERS))

clean:
	rm -rf .venv .venv-bridges .venv-oracles .venv-vllm build dist runs site site-docs

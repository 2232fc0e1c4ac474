# The commands of a working day. `just` is optional: every recipe is one line of shell.

# Everything that a commit must pass
check: fmt lint guard doc test

fmt:
    cargo fmt --all --check

lint:
    cargo clippy --workspace --all-targets -- -D warnings

# The engine stays free of async, network and tensors
guard:
    bash .ci/guard

doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

test:
    cargo test --workspace

# Measures speed, size, quality and crash safety over a pool of skills; see benches/README.md
bench data kills="200":
    cargo build --release
    python3 benches/pool.py --binary "${CARGO_TARGET_DIR:-target}/release/skillmux" --data {{data}} --kills {{kills}} --out results/pool

# Accepts changed snapshots of the command line
snapshots:
    INSTA_UPDATE=always cargo test -p skillmux-cli

# Measures the router and the baselines on every dataset, and writes results/; see docs/evaluation.md
results data work="target/results":
    cargo build --release
    bash benches/results.sh "${CARGO_TARGET_DIR:-target}/release/skillmux" {{data}} {{work}}

# Fits the ranker with each part off, and writes results/ablations.md; after `results`
ablations data work="target/results":
    bash benches/ablations.sh "${CARGO_TARGET_DIR:-target}/release/skillmux" {{data}} {{work}}

# Accepts changed quality: the scores of every sample task, which a test compares
accept-quality:
    cargo build
    bash benches/sample.sh "${CARGO_TARGET_DIR:-target}/debug/skillmux"

# Writes the golden index of the present format
golden:
    cargo run -p skillmux --example write_golden

# The two commands of the README: `make demo` runs the main job, `make test` checks everything.

CARGO ?= cargo

.PHONY: build demo test bench fuzz clean

build:
	$(CARGO) build --release

demo: build
	./target/release/watershed demo

# Everything that has to hold before a change lands. Needs nothing but Rust.
test:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --check --manifest-path fuzz/Cargo.toml
	$(CARGO) fmt --check --manifest-path bench/Cargo.toml
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps
	$(CARGO) test --workspace
	CARGO_TARGET_DIR=target $(CARGO) test --manifest-path fuzz/Cargo.toml

# Us and our peers on the same work; figures with their commands are in bench/README.md.
bench: build
	command -v spin >/dev/null || apt-get install -y spin || echo "without spin, the exploration table is skipped"
	cd bench && $(CARGO) build --release
	./bench/target/release/bench $(SECTIONS)

# Fuzzing for real, with a nightly toolchain and cargo-fuzz: `make fuzz TARGET=aut SECONDS=60`.
TARGET ?= aut
SECONDS ?= 60
fuzz:
	cd fuzz && cargo +nightly fuzz run $(TARGET) --features libfuzzer -- -max_total_time=$(SECONDS)

clean:
	$(CARGO) clean
	rm -rf bench/target bench/results fuzz/target

# The two commands of the README: `make demo` runs the main job, `make test` checks everything.

CARGO ?= cargo

.PHONY: build page demo test test-page screenshots bench fuzz clean

build: page
	$(CARGO) build --release

# The page of the studio, which the program embeds. Without Node everything else is built all the same.
WEB := studio/web
PAGE := crates/studio/assets/page/index.html
PACKAGES := $(WEB)/node_modules/.package-lock.json

page:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(PAGE); \
	else echo "npm is missing: the program is built without the page of watershed studio"; fi

$(PACKAGES): $(WEB)/package.json $(WEB)/package-lock.json
	cd $(WEB) && npm install --no-save --no-audit --no-fund --fetch-timeout=60000
	touch $@

$(PAGE): $(PACKAGES) $(WEB)/index.html $(WEB)/vite.config.ts $(wildcard $(WEB)/src/*)
	cd $(WEB) && npm run build

demo: build
	./target/release/watershed demo

# Everything that has to hold before a change lands. The page is tested where there is Node, in Debian's chromium.
test: page spin maude redis
	$(CARGO) fmt --all --check
	$(CARGO) fmt --check --manifest-path bench/Cargo.toml
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps
	$(CARGO) test --workspace
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory test-page BUILT=1; \
	else echo "npm is missing: the page of watershed studio is not tested"; fi

# Spin counts the markings of nets as well as we do; without it, these tests are skipped.
.PHONY: spin
spin:
	@command -v spin >/dev/null || apt-get install -y spin || (apt-get update && apt-get install -y spin) || \
	echo "without spin, markings are not compared with its own"

# Maude answers the same commands as we do; without it, these tests are skipped.
.PHONY: maude
maude:
	@command -v maude >/dev/null || apt-get install -y maude || (apt-get update && apt-get install -y maude) || \
	echo "without maude, answers are compared with those that are written down"

# Campaigns over many processes use Redis as their broker; without it, these tests are skipped.
.PHONY: redis
redis:
	@command -v redis-server >/dev/null || apt-get install -y redis-server || \
	(apt-get update && apt-get install -y redis-server) || echo "without redis-server, campaigns are tested in folders only"

# The page in a real browser.
test-page: page chromium
	test -n "$(BUILT)" || $(CARGO) build -p cli
	cd $(WEB) && WATERSHED=$(CURDIR)/target/debug/watershed timeout 1200 npm test

.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || apt-get install -y chromium || (apt-get update && apt-get install -y chromium)

# The pictures of the typical bugs in the book.
screenshots: page chromium
	$(CARGO) build -p cli
	cd $(WEB) && WATERSHED=$(CURDIR)/target/debug/watershed timeout 300 node tests/screenshots.mjs ../../docs/src/images

# Us and our peers on the same work; figures with their commands are in bench/README.md.
bench: build
	command -v spin >/dev/null || apt-get install -y spin || echo "without spin, the tables of exploration and nets are skipped"
	cd bench && $(CARGO) build --release
	./bench/target/release/bench $(SECTIONS)

# How fast the page opens and turns large systems, in the browser.
.PHONY: bench-studio
bench-studio: build chromium
	cd $(WEB) && WATERSHED=$(CURDIR)/target/release/watershed timeout 900 node tests/measure.mjs ../../bench/results

# Fuzzing for real, with a nightly toolchain and cargo-fuzz: `make fuzz TARGET=aut SECONDS=60`.
TARGET ?= aut
SECONDS ?= 60
fuzz:
	cd fuzz && cargo +nightly fuzz run $(TARGET) --features libfuzzer -- -max_total_time=$(SECONDS)

clean:
	$(CARGO) clean
	rm -rf bench/target bench/results crates/studio/assets/page studio/web/node_modules

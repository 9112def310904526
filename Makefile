# Builds, tests and installs castore. `make help` lists the targets.
#
# The work is cargo's; this file says what is run, in which order, and where things are installed.

PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo
# For instance --locked, as .ci/run sets it.
CARGOFLAGS ?=

target := $(or $(CARGO_TARGET_DIR),target)
binary := $(target)/release/castore

bindir := $(DESTDIR)$(PREFIX)/bin
mandir := $(DESTDIR)$(PREFIX)/share/man/man1
docdir := $(DESTDIR)$(PREFIX)/share/doc/castore
bash_completion := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/castore
zsh_completion := $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_castore
fish_completion := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/castore.fish

# What `make deb` and `make rpm` build with, in the versions that were tried. Cargo installs them below target/tools.
cargo_deb_version := 3.8.0
cargo_generate_rpm_version := 0.21.1
tools := $(abspath $(target))/tools
# For another architecture than this machine's, say which; the toolchain for it is your matter.
STATIC_TARGET ?= $(shell rustc -vV | sed -n 's/^host: //p')
static_binary := $(target)/$(STATIC_TARGET)/static/castore

pages := $(wildcard man/*.1)
# The commands that have a page of their own.
commands := $(patsubst man/castore-%.1,%,$(filter man/castore-%.1,$(pages)))

# `man` is a directory as well: without this, make would find it up to date.
.PHONY: all help test test-full fuzz setup lint man completions install uninstall static deb rpm packaged clean deny

all: ## Build the program (the default)
	$(CARGO) build --release $(CARGOFLAGS)

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.* ## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

test: setup lint ## Everything that must pass before a commit lands
	$(CARGO) test --all-features --no-fail-fast $(CARGOFLAGS)

test-full: ## The same, with what takes longer
	PROPTEST_CASES=2000 CASTORE_MUTATIONS=2000 RUN_FULL=1 $(MAKE) test

fuzz: ## Fuzz scanner, DER walk, hashes, audit and compact beside libcrypto, for an hour or so
	fuzz/run

setup: ## Install what the tests need (root), or say what is missing; prepare their material
	tests/setup.sh

lint: ## Format, clippy, the library without the command line, documentation
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets --all-features $(CARGOFLAGS) -- -D warnings
	$(CARGO) build --no-default-features $(CARGOFLAGS)
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --all-features $(CARGOFLAGS)

man: all ## Print the manual pages from the command line's definition into target/man
	@mkdir -p $(target)/man
	$(binary) man > $(target)/man/castore.1
	@set -e; for command in $(commands); do \
		echo "$(binary) man $$command > $(target)/man/castore-$$command.1"; \
		$(binary) man $$command > $(target)/man/castore-$$command.1; \
	done

completions: all ## Print the shell completions into target/completions
	@mkdir -p $(target)/completions
	$(binary) completions bash > $(target)/completions/castore.bash
	$(binary) completions zsh > $(target)/completions/_castore
	$(binary) completions fish > $(target)/completions/castore.fish

# Builds nothing, so that root need not run cargo: `make && sudo make install`. No hook is installed: what runs at each
# update of the store belongs to a package, which takes it away again.
install: ## Install below $(DESTDIR)$(PREFIX) what `make` has built
	@test -x $(binary) || { echo "$(binary) is not there: run make first" >&2; exit 1; }
	install -D -m 755 $(binary) $(bindir)/castore
	@set -e; for page in $(pages); do \
		echo "install $$page"; \
		install -D -m 644 $$page $(mandir)/$${page#man/}; \
	done
	install -d $(dir $(bash_completion)) $(dir $(zsh_completion)) $(dir $(fish_completion))
	$(binary) completions bash > $(bash_completion)
	$(binary) completions zsh > $(zsh_completion)
	$(binary) completions fish > $(fish_completion)
	chmod 644 $(bash_completion) $(zsh_completion) $(fish_completion)
	install -d $(docdir)
	install -m 644 LICENSE-MIT LICENSE-APACHE $(docdir)

uninstall: ## Remove what `make install` installed
	rm -f $(bindir)/castore $(addprefix $(mandir)/,$(notdir $(pages)))
	rm -f $(bash_completion) $(zsh_completion) $(fish_completion)
	rm -f $(docdir)/LICENSE-MIT $(docdir)/LICENSE-APACHE
	-test ! -d $(docdir) || rmdir $(docdir)

# --target, even for this machine: else cargo would build procedural macros with these flags too, and cannot. The profile
# aborts on panics, so nothing needs tables to unwind by. It loads anywhere, for which it has some 5,000 relocations: as
# RELR they take 2 kB, not 100.
static_flags := -C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs \
	-C link-arg=-Wl,--no-eh-frame-hdr,-T,packaging/static.ld

static: ## Build one static file, for image builds and rescue: target/HOST/static/castore
	RUSTFLAGS="$(static_flags)" $(CARGO) build --profile static --target $(STATIC_TARGET) $(CARGOFLAGS)
	@ls -l $(static_binary)

# What both packages hold beside the program. Cargo.toml can name one place alone, whatever CARGO_TARGET_DIR says.
packaged: all
	@mkdir -p target/completions
	$(binary) completions bash > target/completions/castore.bash
	$(binary) completions zsh > target/completions/_castore
	$(binary) completions fish > target/completions/castore.fish
	@chmod 644 target/completions/*

$(tools)/cargo-deb-$(cargo_deb_version)/bin/cargo-deb:
	$(CARGO) install --locked --version $(cargo_deb_version) --root $(tools)/cargo-deb-$(cargo_deb_version) cargo-deb

$(tools)/cargo-generate-rpm-$(cargo_generate_rpm_version)/bin/cargo-generate-rpm:
	$(CARGO) install --locked --version $(cargo_generate_rpm_version) \
		--root $(tools)/cargo-generate-rpm-$(cargo_generate_rpm_version) cargo-generate-rpm

deb: packaged $(tools)/cargo-deb-$(cargo_deb_version)/bin/cargo-deb ## Build a Debian package: target/debian/castore_*.deb
	$(tools)/cargo-deb-$(cargo_deb_version)/bin/cargo-deb --no-build

rpm: packaged $(tools)/cargo-generate-rpm-$(cargo_generate_rpm_version)/bin/cargo-generate-rpm ## Build an RPM: target/generate-rpm/castore-*.rpm
	$(tools)/cargo-generate-rpm-$(cargo_generate_rpm_version)/bin/cargo-generate-rpm

clean: ## Remove everything that was built, the material of the tests included
	$(CARGO) clean

deny: ## Licences, advisories and sources of the dependencies, where cargo-deny is installed
	@if command -v cargo-deny >/dev/null; then \
		$(CARGO) deny check; \
	else \
		echo "cargo-deny is not installed: cargo install --locked cargo-deny"; \
	fi

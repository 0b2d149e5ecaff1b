# Everything a developer types. Each target sets up what it needs first, and setting up again costs half a second.

VENV := .venv/bin
# Tests run `make` themselves, and it should not take itself for a part of this one.
PYTEST := env -u MAKEFLAGS -u MAKELEVEL $(VENV)/python -m pytest
# As many tests at a time as there are processors, at most four; WORKERS=0 runs them one after the other, in one process.
WORKERS ?= auto
TOGETHER := -n $(WORKERS) --maxprocesses 4 --dist worksteal
NOT_UNIT := boot or network or kernel or serial or web or bench
# What the promises may take, with nothing cached, on two cores.
BOOT_TEST_MINUTES := 25
# Minutes from which on no promise is begun any more: those are left out, and named.
BEGIN_UNTIL ?=
SHELL_SCRIPTS := .ci/run examples/desktop/learn examples/microvm/nfs-server examples/microvm/disk-root/init $(shell grep -lE '^\#!.*sh$$' scripts/* guest/* debian/* 2>/dev/null)
C_COMPILERS := gcc $(shell command -v clang 2>/dev/null)
TO_DO := TO''DO|FIX''ME

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup setup-build setup-dev setup-web site docs check check-python check-c check-shell check-leftovers \
	test test-c boot-test boot-test-all web-test demo bench bench-init fuzz golden lock clean wheel-test package-test deb-test clean-root-test tutorial-test \
	new-technique new-importer new-target contract-test setup-container container-test

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## QEMU, a compiler, .venv/bin/bootlab and the QEMU plugin; quick when all is there
	@scripts/setup run

setup-build: ## the same, and what bootlab build uses: kernels for x86-64, arm64, armv7 and riscv64, file systems
	@scripts/setup build

setup-dev: ## the same, and what make test, check and boot-test use
	@scripts/setup dev

setup-web: ## the same, and a browser for make web-test
	@scripts/setup web

# An image has its own Python and QEMU, so scripts/container needs little of the above. Where nothing can be installed it
# says itself what it lacks.
CONTAINER_TOOLS = $(if $(shell command -v mmdebstrap),,mmdebstrap) \
	$(if $(wildcard /usr/share/keyrings/debian-archive-keyring.gpg),,debian-archive-keyring) \
	$(if $(shell python3 -c 'import venv, ensurepip; print(1)' 2>/dev/null),,python3-venv)

setup-container:
	$(if $(strip $(CONTAINER_TOOLS)),@[ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || { apt-get -qq update && \
		DEBIAN_FRONTEND=noninteractive apt-get -qqy --no-install-recommends install $(strip $(CONTAINER_TOOLS)); })

demo: setup ## boot a stock Debian kernel, try what saves time, end with a table and a report
	$(VENV)/bootlab try examples/debian-cloud.toml --plan demo --nulls 3

site: setup ## three examples at the last 12 commits, and kernel versions, in build/site/public; SITE="3 microvm" KERNELS=5 says less
	scripts/site $(SITE)

test: setup-dev test-c ## the fast tests: no guest, no network, no root
	$(PYTEST) $(TOGETHER) -rs -m "not ($(NOT_UNIT))"

test-c: setup-dev ## the C tests, under the address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory -C plugin test OUT=$(CURDIR)/build/plugin-test
	@$(MAKE) --no-print-directory -C guest test OUT=$(CURDIR)/build/guest-test

boot-test: setup-dev ## the promises (CONTRIBUTING.md): each machine, each verb, exactness, bad boots, boards, process 1
	$(PYTEST) $(TOGETHER) -rs --durations=10 --budget $(BOOT_TEST_MINUTES) $(BEGIN_UNTIL:%=--begin-until %) \
		-m "promise and not bench"

boot-test-all: setup-dev ## every test that boots real guests, fetches real packages or watches lines in real time; hours
	$(PYTEST) $(TOGETHER) -rs --durations=25 -m "(boot or network or kernel or serial) and not bench"

docs: setup-dev ## the site of documentation, build/docs/site/index.html, and the manual pages, build/docs/man
	@scripts/docs

web-test: setup-web ## the report in a real browser
	$(PYTEST) -m "web and not bench"

check: check-python check-c check-shell check-leftovers ## format, lint, types, architecture, C warnings, shell, leftovers

check-python: setup-dev
	$(VENV)/ruff format --check
	$(VENV)/ruff check
	$(VENV)/mypy
	$(PYTEST) -q tests/test_architecture.py tests/test_c_architecture.py

check-c: setup-dev
	set -e; for compiler in $(C_COMPILERS); do \
		for folder in plugin guest; do \
			$(MAKE) --no-print-directory -B -C $$folder OUT=$(CURDIR)/build/check CC=$$compiler; \
		done; \
		$(MAKE) --no-print-directory -B -C plugin OUT=$(CURDIR)/build/check CC=$$compiler $(CURDIR)/build/check/block-counts.so; \
	done

check-shell: setup-dev
	shellcheck $(SHELL_SCRIPTS)

check-leftovers:
	@! grep -rnwE --exclude-dir=__pycache__ --exclude-dir=data '$(TO_DO)' bootlab plugin guest scripts tests docs .ci Makefile *.md
	@! git ls-files --stage | grep ^120000 # archives and some checkouts make files of symbolic links

fuzz: setup-dev ## a million damaged recordings through the importers; FUZZ="--inputs 20000 --only tslog" says otherwise
	$(VENV)/python -m tests.fuzz.run $(FUZZ)

bench: setup-web ## what measuring costs, against the same QEMU without the plugin
	$(PYTEST) -m bench -s

bench-init: setup-dev ## one Debian 12 guest booted by six inits, ours twice, 144 boots; goes on where it was stopped; INITS="--wall 0" says less
	$(VENV)/python -m tests.bench.inits.run $(INITS)

golden: setup-dev ## rewrite the expected outputs under tests/; review the diff
	BOOTLAB_GOLDEN=write $(PYTEST) $(TOGETHER) -m "not ($(NOT_UNIT))"

lock: setup-dev ## choose package versions anew, into the two lock files
	scripts/lock

new-technique: setup-dev ## make the file of a technique, NAME=LAYER_WHAT; with IN=DIR outside of the package
	@scripts/new technique "$(NAME)" $(if $(IN),--in "$(IN)")

new-importer: setup-dev ## make the files of an importer, NAME=FORMAT or NAME=FOLDER/FORMAT; with IN=DIR outside of the package
	@scripts/new importer "$(NAME)" $(if $(IN),--in "$(IN)")

new-target: setup-dev ## make the files of a target, NAME=KIND
	@scripts/new target "$(NAME)"

contract-test: setup-dev ## what every technique and every importer promises; with IN=DIR those of an extension, too
	BOOTLAB_TEST_EXTENSIONS="$(if $(IN),$(abspath $(IN)))" $(PYTEST) -q tests/techniques/test_contract.py tests/importers/test_contract.py

clean: ## remove what was built; the downloads stay in the cache
	rm -rf build .venv .mypy_cache .pytest_cache .ruff_cache *.egg-info
	find bootlab tests -name __pycache__ -type d -prune -exec rm -rf {} +

wheel-test: ## build a wheel, install it in a virtual environment, and boot with it; on a machine that is thrown away (root)
	scripts/try-package wheel

package-test: ## install bootlab as a package, by pipx, and boot with it; on a machine that is thrown away (root)
	scripts/try-package pipx

deb-test: ## build the Debian package, hold it to lintian, install it by apt, and boot with it; on a machine that is thrown away (root)
	scripts/try-package deb

container-test: setup-container ## make the container image and use it: an example booted, a technique tried (root)
	scripts/container --try build/bootlab-container.tar

tutorial-test: ## follow each tutorial from nothing, with an empty home and cache, hours; TUTORIALS="images" says less; on a machine that is thrown away (root)
	@type python3 >/dev/null 2>&1 || { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qqy --no-install-recommends install python3 >/dev/null; }
	python3 -m tests.tutorials.follow $(TUTORIALS)

clean-root-test: ## prove `make test` and `make demo` on a Debian 12 and a Debian 13 made this minute (root)
	scripts/clean-root 12 test demo
	scripts/clean-root 13 test demo wheel-test package-test deb-test

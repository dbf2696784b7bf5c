# Two commands do everything from nothing: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
SHELL = /bin/bash
.SHELLFLAGS = -o pipefail -c
BIN = $(VENV)/bin
# Where Python is told to keep no compiled modules, as in many containers, each of the many processes
# of the checks would compile torch again, for longer than most of them work.
unexport PYTHONDONTWRITEBYTECODE
INSTALLED = $(VENV)/.installed
NOTEBOOKS = notebooks
PIP = $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
# Where to get torch, if not from the package registry: an index with builds for CPUs alone, or for ROCm.
TORCH_INDEX ?=
TORCH_FROM = $(TORCH_INDEX:%=--index-url %)

# The tested versions, checked by their hashes; `make VERSIONS=newest ...` takes the newest that
# pyproject.toml allows. A lock is complete, so nothing has to be resolved.
LOCKED = $(PIP) --no-deps --no-build-isolation --require-hashes -r
ifeq ($(VERSIONS),newest)
INSTALL = $(PIP) $(TORCH_FROM) torch && $(PIP) -e '.[dev,lab]'
EXTRA = $(PIP) -e '.[$(1)]'
else
# Setuptools comes first: what is published as source alone is built with it.
INSTALL = sed -n '/^setuptools==/,/[^\\]$$/p' requirements.lock | $(LOCKED) /dev/stdin && \
	$(LOCKED) requirements.lock && $(PIP) $(TORCH_FROM) -r requirements-torch.txt && \
	$(PIP) --no-deps --no-build-isolation -e .
EXTRA = $(LOCKED) requirements-$(1).lock
endif

.PHONY: demo test examples check-notebooks check-site check-tutorials verify verify-corpora faults bare browser cluster nbgrader \
	exports slides site badges install lock dist sbom lint notebooks bench clean clean-runs

demo: $(INSTALLED)
	base=$$($(BIN)/repro train --scale smoke --system base | tail -n 1) && \
	hard_coded=$$($(BIN)/repro train --scale smoke --system hc-sa | tail -n 1) && \
	$(BIN)/repro report "$$base" "$$hard_coded" --out reports/demo.md

# Of nbval, and of what tests in a browser need, the imports alone take seconds in every process.
test: lint
	$(BIN)/python -m pytest -p no:nbval -m "not minutes" --ignore=tests/browser -n 2 --dist loadfile \
		--no-loadscope-reorder
	$(MAKE) -j 2 check-notebooks $(if $(REPRO_DATA),verify-corpora,verify) check-tutorials faults

# The example of `--help` that trains all experiments of all papers, as tiny as it can be: minutes.
examples: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -p no:nbval -m minutes tests/test_help_examples.py

# `make test` runs two of the next four side by side: the others fill the cores while the last of the notebooks runs.
# Both print the peak memory of every notebook.
check-notebooks: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -p tests.kernel_memory -n 2 --dist loadfile --nbval $(NOTEBOOKS)

check-tutorials: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -p tests.kernel_memory --nbval tutorials

# Nearly all numbers follow from the records alone; `verify-corpora` also scores the translations again.
verify: $(INSTALLED)
	env -u REPRO_DATA HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/repro verify

verify-corpora: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/repro verify --strict

faults: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python tests/seeded_faults.py

# What `make test` would do otherwise without the corpora and the network: tests get a corpus only if
# they ask for it, so what is left are the notebooks that compare stored results.
bare: $(INSTALLED)
	env -u REPRO_DATA HF_HUB_OFFLINE=1 $(MAKE) check-notebooks NOTEBOOKS="$(wildcard notebooks/0[2-59]_*.ipynb)"

# The widgets, notebook 08 in a real JupyterLab and the site; needs the system's Chromium.
browser: $(INSTALLED)
	$(call EXTRA,browser)
	$(call EXTRA,site)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m browser tests/browser

# Every page of the site, in both themes and on a phone; `make browser` takes one page of each kind.
check-site: $(INSTALLED)
	$(call EXTRA,browser)
	$(call EXTRA,site)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m browser -s tests/browser/test_site.py --every-page

# Runs on Ray workers.
cluster: $(INSTALLED)
	$(call EXTRA,cluster)
	$(BIN)/python -m pytest tests/test_cluster.py

# The assignments, with nbgrader itself in an environment of its own.
nbgrader:
	$(PYTHON) -m venv .venv-nbgrader
	.venv-nbgrader/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' nbgrader
	.venv-nbgrader/bin/python -m pytest tests/test_nbgrader.py

# Exported models, translated by the programs that they are for, in an environment of its own.
exports:
	$(PYTHON) -m venv .venv-exports
	.venv-exports/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH_FROM) -r requirements-torch.txt
	.venv-exports/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev,export]' transformers
	.venv-exports/bin/python -m pytest -k export tests/test_exported_runs.py tests/test_help_examples.py

# Slides of the lesson and of the course, from the pages of the plans.
slides: $(INSTALLED)
	$(BIN)/python -m repro.teaching.slides docs/teaching/lesson.md docs/teaching/course.md

# The site, from what is committed, into build/site/html: nothing is trained or run.
site: $(INSTALLED)
	$(call EXTRA,site)
	$(BIN)/python -m website

# Where README and notebooks can be opened, from the address in pyproject.toml.
badges: $(INSTALLED)
	$(BIN)/python -m website.badges

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Run every notebook from a fresh kernel and save what it shows; what was printed in pieces is put together, or each run would differ.
notebooks: $(INSTALLED)
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace --ExecutePreprocessor.record_timing=False notebooks/*.ipynb tutorials/*/*.ipynb
	$(BIN)/jupyter nbconvert --to notebook --inplace --CoalesceStreamsPreprocessor.enabled=True notebooks/*.ipynb tutorials/*/*.ipynb

# Speed against other toolkits, in an environment of its own; leave the machine alone meanwhile.
bench:
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	.venv-bench/bin/python -m benchmarks

install: $(INSTALLED)

$(INSTALLED): pyproject.toml requirements.lock requirements-torch.txt
	@$(PYTHON) -c 'import sys; sys.exit("error: Python " + sys.version.split()[0] + " is too old. Fix: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	@echo "Installing into $(VENV), once; this takes a few minutes."
	@$(PYTHON) -m venv $(VENV)
	@{ $(INSTALL); } || { echo "error: these versions do not install with $$($(BIN)/python -V) (pip says why above)." \
		"Fix: where a package has no build for it, make clean, then make PYTHON=python3.11," \
		"or make VERSIONS=newest, which checks no hashes" >&2; exit 1; }
	@touch $@

# Refresh the locks: the newest versions that pyproject.toml allows, for every platform, with the
# hashes of all their files. The lock of an extra holds what it adds to requirements.lock.
COMPILE = build/lock/bin/uv pip compile pyproject.toml --quiet --upgrade --universal --fork-strategy fewest \
	--constraint requirements-torch.txt --no-emit-package torch --generate-hashes --no-annotate \
	--custom-compile-command 'make lock'
lock:
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(COMPILE) --extra dev --extra lab --output-file requirements.lock
	for extra in browser cluster quiz site syntax; do \
		$(COMPILE) --extra $$extra --constraint requirements.lock --output-file requirements-$$extra.lock \
			$$(sed -n 's/^\([^ #=]*\)==.*/--no-emit-package \1/p' requirements.lock) || exit; \
	done

# The source distribution and the wheel of the last commit. The first holds every file of it; the
# wheel is built from both, and both times it is the same, byte by byte.
dist: $(INSTALLED)
	rm -rf build/commit build/wheel dist
	mkdir -p build/commit
	umask 022; git -c tar.umask=0022 archive HEAD | tar -x -C build/commit
	umask 022; export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct); \
	$(BIN)/python -m build --quiet --no-isolation --outdir dist build/commit && \
	$(BIN)/python -m build --quiet --no-isolation --wheel --outdir build/wheel build/commit
	diff <(git ls-tree -r --name-only HEAD | sort) <(tar -tzf dist/*.tar.gz | cut -d / -f 2- | \
		grep -v -e '/$$' -e '^$$' -e '^PKG-INFO$$' -e '^setup.cfg$$' -e '[.]egg-info/' | sort)
	cmp dist/*.whl build/wheel/*.whl

# What is installed, with versions and licences, in the format of CycloneDX.
sbom: $(INSTALLED)
	$(PYTHON) -m venv build/sbom
	build/sbom/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom
	mkdir -p dist
	build/sbom/bin/cyclonedx-py environment $(VENV) --output-file dist/sbom.json

# What can be made again in minutes. Trained runs are not of that kind: `make clean-runs` deletes them.
clean:
	rm -rf $(VENV) .venv-bench .venv-exports .venv-nbgrader build dist *.egg-info

clean-runs:
	rm -rf runs reports

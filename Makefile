# Two commands do everything from nothing: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
SHELL = /bin/bash
.SHELLFLAGS = -o pipefail -c
BIN = $(VENV)/bin
INSTALLED = $(VENV)/.installed

.PHONY: demo test check-notebooks check-tutorials verify faults browser cluster install lint notebooks bench clean clean-runs

demo: $(INSTALLED)
	base=$$($(BIN)/repro train --scale smoke --variant base | tail -n 1) && \
	hard_coded=$$($(BIN)/repro train --scale smoke --variant hc-sa | tail -n 1) && \
	$(BIN)/repro report "$$base" "$$hard_coded" --out reports/demo.md

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile
	$(MAKE) -j 2 check-notebooks verify check-tutorials faults

# `make test` runs two of the next four side by side: the others fill the cores while the last of the notebooks runs.
check-notebooks: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --nbval notebooks

check-tutorials: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --nbval tutorials

verify: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/repro verify

faults: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python tests/seeded_faults.py

# The widgets and notebook 08 in a real JupyterLab; needs the system's Chromium.
browser: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]'
	$(BIN)/python -m pytest -m browser tests/browser

# Runs on Ray workers.
cluster: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cluster]'
	$(BIN)/python -m pytest tests/test_cluster.py

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

$(INSTALLED): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("error: Python " + sys.version.split()[0] + " is too old. Fix: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

# What can be made again in minutes. Trained runs are not of that kind: `make clean-runs` deletes them.
clean:
	rm -rf $(VENV) .venv-bench build dist *.egg-info

clean-runs:
	rm -rf runs reports

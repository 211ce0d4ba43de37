# `sam build` calls build-<LogicalId> for each function of template.yaml, with the folder in ARTIFACTS_DIR.
# It needs uv, which brings Python 3.13, the version of the functions, if this machine has none.

FUNCTION_PYTHON = PYTHONPATH="$(CURDIR)" PYTHONDONTWRITEBYTECODE=1 \
	uv run --quiet --no-project --python 3.13 --with-requirements infra/requirements.txt python

build-%:
	$(FUNCTION_PYTHON) -m infra.build "$*" "$(ARTIFACTS_DIR)"

# `sam build` calls build-<LogicalId> for each function of template.yaml, with the folder in ARTIFACTS_DIR.
# It needs uv, which brings Python 3.13, the version of the functions, if this machine has none.

build-%:
	scripts/as_function -m infra.build "$*" "$(ARTIFACTS_DIR)"

"""What deploys: models declared in models.toml, template.yaml made of them, and the artifacts of its functions."""

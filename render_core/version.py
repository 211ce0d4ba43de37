"""The version of this package, known without its installation's metadata: a Lambda function has none."""

__version__ = "0.1.0"

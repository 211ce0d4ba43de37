"""The function as Lambda runs it: AWS's own runtime client in a process of its own, and no account."""

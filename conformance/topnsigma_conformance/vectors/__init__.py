"""Frozen test vectors: JSON files for implementers who cannot run Python.

``export`` writes them, ``check`` holds a directory of them to the reference. Their format is that
of ``schema.json``, and is described in the README of this package.
"""

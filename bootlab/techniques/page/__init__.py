"""The catalogue as a page: docs/techniques.md, with the published tables and what was measured here."""

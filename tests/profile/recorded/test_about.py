"""What is kept beside a profile: absent, or damaged."""

import json
from pathlib import Path

import pytest

from bootlab.errors import StoreError
from bootlab.profile.recorded.about import ABOUT, read_about


def test_what_is_beside_a_profile_may_be_missing_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not the boot of a profile"):
        read_about(tmp_path)
    for text in ("", "[]", "{}", json.dumps({"initcall_levels": {"x": 1}, "missing": [], "payload": None})):
        (tmp_path / ABOUT).write_text(text)
        with pytest.raises(StoreError, match="damaged"):
            read_about(tmp_path)

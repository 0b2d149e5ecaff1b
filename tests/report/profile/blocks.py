"""Reads the blocks of data that a profile page carries for its scripts, as those scripts do."""

import base64
import json
import re
import zlib
from typing import Any

import numpy as np


def read_block(page: str, name: str = "profile-tree") -> dict[str, Any]:
    """Return a block's facts, and its columns as lists."""
    found = re.search(rf'<script type="application/octet-stream" id="{name}">([^<]*)</script>', page)
    assert found
    raw = zlib.decompress(base64.b64decode(found[1]))
    length = int.from_bytes(raw[:4], "little")
    head: dict[str, Any] = json.loads(raw[4 : 4 + length])
    columns = {
        key: read_column(raw[4 + length + one["start"] : 4 + length + one["end"]], one)
        for key, one in head["columns"].items()
    }
    return {**head, "columns": columns}


def read_column(data: bytes, column: dict[str, Any]) -> list[Any]:
    if column["form"] == "text":
        return data.decode().split("\n") if column["count"] else []
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    if column["form"] == "differences":
        steps = [(one >> 1) ^ -(one & 1) for one in values]
        values = np.cumsum(steps).tolist() if steps else []
    assert len(values) == column["count"]
    return values


def stacks(block: dict[str, Any], side: int, what: str) -> dict[str, int]:
    """Return stack -> weight over all slices of one side."""
    columns = block["columns"]
    paths: list[str] = []
    open_names: list[str] = []
    for level, name in zip(columns["level"], columns["name"], strict=True):
        open_names[level:] = [columns["names"][name]]
        paths.append(";".join(open_names[1:]))
    sums: dict[str, int] = {}
    for index in range(len(block["slices"])):
        part = [columns[f"{side}.{index}.{column}"] for column in ("nodes", what)]
        for node, weight in zip(*part, strict=True):
            sums[paths[node]] = sums.get(paths[node], 0) + weight
    return {path: weight for path, weight in sums.items() if weight}

"""What is told before an emulated machine boots, because its boot could never show it."""

import random
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.measure.prepare import prepare
from bootlab.system import read_system
from tests.build.kernel.test_image import bzimage
from tests.system.files import GOOD, write


def test_marks_of_a_kernel_without_symbols_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + '[marks]\nmounted = "prepare_namespace"\n')
    # Nobody can say which compression this is, so there is no kernel to read names from.
    (tmp_path / "vmlinuz").write_bytes(bzimage(random.Random(1).randbytes(50_000)))
    system, told = read_system(path), list[str]()
    shop = Workshop(Cache(tmp_path / "cache"), tell=told.append)
    with pytest.raises(
        InputError, match="marks: this kernel's symbols cannot be had, so mounted would never"
    ) as caught:
        prepare(shop, system)
    assert "kernel.symbols" in (caught.value.hint or "")
    assert any(line.startswith("no symbols: ") for line in told)
    unmarked = prepare(shop, system.model_copy(update={"marks": {}}))
    assert unmarked.symbols is None
    assert "guestmarks" in (unmarked.plugin_config or "")

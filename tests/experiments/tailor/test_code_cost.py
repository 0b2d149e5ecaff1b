"""What a piece of kernel code costs a boot, and whether the job reaches it by name or by pointer."""

import shutil

import pytest

from bootlab.experiments.tailor.code_cost import CodeCost, is_passed_through
from bootlab.experiments.tailor.ifdef_use import Guarded
from tests.experiments.tailor.small_kernel import COMPILER, SmallKernel, make_small_kernel

pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"needs {COMPILER}: make setup-build")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> SmallKernel:
    """The program, and its boot."""
    return make_small_kernel(tmp_path_factory.mktemp("program"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hook", CodeCost(3, 1, 0, "hook")),
        ("serve", CodeCost(5, 0, 1, "serve")),
        # The kernel calls it by name, and yet the job asked for it.
        ("__x64_sys_futex", CodeCost(6, 0, 1, "__x64_sys_futex")),
        # With what it called, and with what it gave another task to do.
        ("helper", CodeCost(20 + 30 + 7 + 5000, 0, 0, "helper")),
        ("alloc", CodeCost(30 + 40, 0, 0, "alloc")),
    ],
)
def test_an_object(kernel: SmallKernel, name: str, expected: CodeCost) -> None:
    assert kernel.costs.of([kernel.index(name)], []) == expected
    assert kernel.costs.ways([kernel.index(name)], []) == (expected.by_name, expected.by_pointer)


@pytest.mark.parametrize(
    ("by_name", "by_pointer", "passed"), [(0, 0, True), (1, 0, True), (3, 2, True), (2, 2, False), (0, 1, False)]
)
def test_passing_through_is_coming_mostly_by_name(by_name: int, by_pointer: int, passed: bool) -> None:
    assert is_passed_through(by_name, by_pointer) is passed


def test_code_under_options(kernel: SmallKernel) -> None:
    called = Guarded(calls=frozenset({(kernel.index("announce"), "announce", "helper")}))
    assert kernel.costs.of([], [called]) == CodeCost(20 + 30 + 5000, 0, 0, "helper")
    function = Guarded(names=frozenset({(kernel.index("hook"), "hook")}))
    assert kernel.costs.of([], [function]) == CodeCost(3, 1, 0, "hook")
    both = kernel.costs.of([kernel.index("alloc")], [called, function])
    assert both.instructions == 20 + 30 + 40 + 3 + 5000, "what is in two of them counts once"
    assert kernel.costs.of([], []) == CodeCost(0, 0, 0, "")
    assert kernel.costs.total == 10 + 20 + 30 + 40 + 5000 + 7 + 100 + 3 + 5 + 6

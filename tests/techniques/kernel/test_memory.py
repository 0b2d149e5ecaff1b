"""How the kernel hands out memory: by the names and on the architectures that have it."""

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer

KERNEL = {technique.name: technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL}


def test_a_6_1_kernel_has_its_large_tables_turned_off(built: System) -> None:
    older = Measured({}, {}, {}, "", {"BASE_FULL": "y", "BASE_SMALL": "0", "EXPERT": "y"})
    build = KERNEL["kernel_small_tables"].change.apply(built, older).kernel.build
    assert build is not None and build.options == {"BASE_FULL": "n"}


def test_32_bit_kernels_set_all_pages_up_at_once(board: System) -> None:
    smp = Measured({}, {}, {}, "", {"SMP": "y"})
    reason = KERNEL["kernel_deferred_pages"].change.applies(board, smp)
    assert reason == "only x86-64 and arm64 and riscv64; this system is armv7"

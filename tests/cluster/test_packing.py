"""A boot as an order: the same boot again on the other side, its large parts by hash, and nothing that has changed."""

import pickle
from pathlib import Path

import pytest

from bootlab.build.cache import Cache, file_sha256
from bootlab.cluster.order import Input, Order
from bootlab.cluster.packing import Packer, unpack
from bootlab.errors import InputError
from bootlab.measure.boot import boot
from tests.replayed import prepared, replayed


def found_in(order: Order) -> dict[str, Path]:
    return {one.sha256: one.path for one in order.inputs}


def test_what_is_unpacked_is_the_boot_that_was_packed(tmp_path: Path) -> None:
    one = prepared(replayed(tmp_path)).with_seed(7)
    order = Packer(Cache(tmp_path / "cache")).pack(one)
    again = unpack(order, found_in(order).__getitem__)
    assert (again.key, again.system.seed) == (order.key, 7) == (one.key, one.system.seed)
    records = []
    for name, each in (("one", one), ("again", again)):
        (tmp_path / name).mkdir()
        records.append(boot(each, tmp_path / name))
    assert records[0].marks == records[1].marks and records[0].initcalls == records[1].initcalls


def test_large_parts_go_by_hash_and_are_the_same_for_every_seed_and_system(tmp_path: Path) -> None:
    system = replayed(tmp_path)
    packer = Packer(Cache(tmp_path / "cache"))
    orders = [
        packer.pack(prepared(one).with_seed(seed)) for one in (system, system.with_cmdline("a")) for seed in (1, 2)
    ]
    assert len({order.inputs for order in orders}) == 1
    assert len({order.key for order in orders}) == 4
    assert all(len(order.prepared) < 20_000 for order in orders)
    assert all(file_sha256(one.path) == one.sha256 for one in orders[0].inputs)
    assert all(one.path.stat().st_size == one.size for one in orders[0].inputs)


def test_a_file_goes_along_and_comes_out_where_the_other_side_has_it(tmp_path: Path) -> None:
    system = replayed(tmp_path)
    config = tmp_path / "recorded/kernel.config"
    config.write_text("CONFIG_SMP=y\n")
    order = Packer(Cache(tmp_path / "cache")).pack(prepared(system))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("CONFIG_SMP=y\n")
    places = {**found_in(order), file_sha256(config): elsewhere}
    assert unpack(order, places.__getitem__).files.kernel_config == elsewhere


def test_a_file_that_is_gone_or_another_one_now_is_named(tmp_path: Path) -> None:
    one = prepared(replayed(tmp_path))
    kernel = tmp_path / "kernel"
    kernel.write_bytes(b"as it was")
    files = one.files.model_copy(update={"kernel": kernel})
    hashes = {**one.hashes, "kernel": file_sha256(kernel)}
    packer = Packer(Cache(tmp_path / "cache"))
    was = type(one)(
        **{name: getattr(one, name) for name in one.__dataclass_fields__} | {"files": files, "hashes": hashes}
    )
    assert kernel in {each.path for each in packer.pack(was).inputs}
    kernel.write_bytes(b"as it is now")
    with pytest.raises(InputError, match="kernel: has changed since"):
        packer.pack(was)


def test_a_path_is_sent_in_a_form_that_every_python_reads() -> None:
    """Python 3.13 pickles one as of pathlib._local, and an older scheduler or worker has no such module."""
    sent = pickle.dumps(Input("0" * 64, 1, Path("/a/b")))
    assert b"pathlib" not in sent and pickle.loads(sent).path == Path("/a/b")

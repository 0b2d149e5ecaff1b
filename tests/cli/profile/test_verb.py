"""`bootlab profile` and `advise` as a user meets them, on profiles that are on record; boots are in tests/boot."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.cli.options.ranges import parse_numbers
from bootlab.cli.profile.boots import expect_started
from bootlab.errors import BootFailed, BootlabError, InputError, MissingTool, StoreError
from bootlab.experiments.recorded_profiles import read_profile_run
from bootlab.experiments.store import Run, RunKind
from bootlab.experiments.sweep.profiles import make_point, make_sweep
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import read_record
from tests.cli.conftest import made_up_profile, write_profile_run, write_sweep_run

ROOT = Path(__file__).parents[3]


@pytest.fixture
def document(profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["profile", "last", "--json", "--runs", str(tmp_path)]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_document_of_a_profile(document: dict[str, Any], profile_run: Run) -> None:
    assert document["schema"] == "bootlab.profile/1"
    account = document["account"]
    assert (account["instructions"], account["attributed_instructions"]) == (3_300_000, 3_300_000)
    assert (account["idle_ns"], account["virtual_ns"]) == (700_000, 4_000_000)
    assert account["named_kernel_share"] == 1.0
    assert 0 <= account["mismatched_return_share"] <= 1
    assert document["complete"] is True
    assert document["ready_ns"] == 4_000_000
    assert [one["name"] for one in document["slices"]][-2:] == ["ready", "end"]
    assert [one["name"] for one in document["initcalls"]["initcalls"]] == ["tpm_init"]
    assert document["initcalls"]["initcalls"][0]["level"] == "device"
    assert [phase["name"] for phase in document["activity"]["phases"]][:2] == ["firmware", "decompressor"]
    assert document["advice"]["schema"] == "bootlab.advise/1"
    assert document["run"] == str(profile_run.path)
    assert json.loads(profile_run.result.read_text()) == document


def test_the_page_and_the_terminal(profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "1", "--runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for words in ("made-up  ready  4.00 ms virtual", "account closed", "phases up to ready", "longest initcalls"):
        assert words in out
    assert "self-tests of the crypto API" in out
    assert str(profile_run.path / "report.html") in out
    page = (profile_run.path / "report.html").read_text()
    assert "profile.bin" in page and "result.json" in page


def test_exports_lie_beside_the_page_or_where_they_are_wanted(
    profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["profile", "1", "--runs", str(tmp_path)]
    assert run([*words, "--export", "folded", "--export", "json"]) == 0
    assert "wrote profile.instructions.folded" in capsys.readouterr().out
    folded = (profile_run.path / "profile.instructions.folded").read_text()
    assert sum(int(line.rpartition(" ")[2]) for line in folded.splitlines()) == 3_300_000
    elsewhere = tmp_path / "elsewhere"
    assert run([*words, "--export", "perfetto", "--export", "svg", "--export", "csv", "--to", str(elsewhere)]) == 0
    assert {path.name for path in elsewhere.iterdir()} >= {"profile.perfetto.json", "tables"}


def test_folded_stacks_of_two_profiles(profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["profile", "1", "--against", "1", "--export", "folded", "--runs", str(tmp_path)]
    assert run(words) == 0
    assert "wrote profile.difference.instructions.folded" in capsys.readouterr().out
    lines = (profile_run.path / "profile.difference.instructions.folded").read_text().splitlines()
    figures = [line.rsplit(" ", 2)[1:] for line in lines]
    assert sum(int(before) for before, _ in figures) == sum(int(after) for _, after in figures) == 3_300_000


def test_a_profile_against_another(profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profile", "1", "--against", "1", "--runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "functions by the change of their own time" in out
    assert (profile_run.path / "difference.html").stat().st_size > 10_000


def test_advice(profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["advise", "1", "--json", "--runs", str(tmp_path)]) == 0
    advice = json.loads(capsys.readouterr().out)
    assert advice["items"][0]["remedy"]["technique"] == "cmdline_cryptomgr_notests"
    assert sum(item["cost_ns"] for item in advice["items"]) + advice["rest_ns"] == advice["total_ns"] == 4_000_000
    assert run(["advise", "1", "--runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(line for line in lines if re.match(r" *\d+\.\d\d ", line))
    assert "self-tests of the crypto API" in first
    assert any("the kernel image's decompressor (zstd)" in line for line in lines)


@pytest.mark.parametrize("part", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_a_profile_that_was_cut_off_is_shown_as_far_as_it_goes(
    part: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, _ = made_up_profile()
    write_profile_run(tmp_path, size=len(data) * part // 10, outcome=Outcome.TARGET_DIED)
    assert run(["profile", "1", "--runs", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "target died" in out
    assert "the profile was cut off" in out
    assert run(["profile", "1", "--json", "--runs", str(tmp_path)]) == 1
    assert json.loads(capsys.readouterr().out)["complete"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["profile", "nope.toml"], "nope.toml: no such file"),
        (["profile", "nope"], "nope: no such run"),
        (["profile", "1", "--seed", "2"], "1: a run on record is not booted"),
        (["profile", "1", "--vcpus", "2"], "1: a run on record is not booted"),
        (["profile", "1", "--span", "5"], "1: a run on record is not booted"),
        (["profile", "1", "--to", "."], "--to: says where exports go, and there is none"),
        (["profile", "1/2"], "holds no finished boot with a profile called '2'"),
        (["profile", "nope/boots/1"], "nope: no such run"),
        (["profile", "{system}", "--vcpus", "65"], "--vcpus 65: expected 1 to 64"),
        (["profile", "{system}", "--span", "99999999999999999999999"], "--span"),
        (["profile", "{system}", "--vcpus", "0"], "--vcpus 0: expected 1 to 64"),
        (["profile", "{system}", "--vcpus", "two"], "--vcpus two: not a number"),
        (["profile", "{system}", "--vcpus", "1,2", "--memory", "256,512"], "a list of one of them at a time"),
        (["profile", "{system}", "--vcpus", "1,2", "--export", "svg"], "go with one boot"),
        (["profile", "{system}", "--symbols", "README.md"], "README.md: not a file of symbols"),
        (["profile", "{system}", "--symbols", "/none"], "/none: no such file"),
        (["profile", "{system}", "--export", "gif"], "--export"),
        (["profile", "{system}", "--span", "-1"], "--span"),
        (["profile", "{system}", "--against", "77"], "77: no such run"),
        (["advise", "77"], "77: no such run"),
    ],
)
def test_wrong_use(
    words: list[str], message: str, profile_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    words = [word.format(system="examples/debian-cloud.toml") for word in words]
    with pytest.raises(InputError, match=message):
        run([*words, "--runs", str(tmp_path)])


def test_exports_that_cannot_be_written_are_found_out_before_a_boot(tmp_path: Path) -> None:
    system = str(ROOT / "examples" / "debian-cloud.toml")
    with pytest.raises(StoreError, match="/proc/x: cannot write exports") as raised:
        run(["profile", system, "--export", "svg", "--to", "/proc/x", "--runs", str(tmp_path)])
    assert raised.value.hint is not None and "--to DIR" in raised.value.hint
    assert not list(tmp_path.iterdir())


def test_an_export_that_fails_does_not_take_the_result_along(
    profile_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (profile_run.path / "profile.instructions.svg").mkdir()
    with pytest.raises(StoreError, match="cannot write exports: Is a directory"):
        run(["profile", "1", "--export", "svg", "--export", "json", "--runs", str(tmp_path)])
    assert "account closed" in capsys.readouterr().out
    assert json.loads(profile_run.result.read_text())["files"] == {"all tables": "tables.json"}
    assert (profile_run.path / "report.html").is_file()


def test_a_system_that_cannot_be_profiled_leaves_no_run(tmp_path: Path) -> None:
    system = tmp_path / "text.toml"
    image = '[kernel]\nimage = "README.md"\n'
    system.write_text(f'name = "text"\n[machine]\ntype = "q35"\n{image}[booted]\nmark = "ready"\n')
    (tmp_path / "README.md").write_text("not a kernel\n")
    for words in (["profile", str(system)], ["advise", str(system)], ["profile", str(system), "--vcpus", "1,2"]):
        with pytest.raises(InputError, match=r"text\.toml:"):
            run([*words, "--runs", str(tmp_path / "runs")])
        assert not (tmp_path / "runs").exists()


def test_two_clocks_are_refused_before_anything_is_booted(profile_run: Run, tmp_path: Path) -> None:
    example = ROOT / "examples" / "debian-cloud.toml"
    text = example.read_text().replace('"cloud/', f'"{ROOT}/examples/cloud/')
    other = tmp_path / "other.toml"
    other.write_text(text.replace('kind = "virtual"', 'kind = "virtual"\nshift = 3'))
    for before in (str(example), "1"):
        with pytest.raises(InputError, match="--against: clock.shift of .* is 0, that of debian-cloud is 3"):
            run(["profile", str(other), "--against", before, "--runs", str(tmp_path)])
    assert [one.name for one in tmp_path.glob("000*")] == [profile_run.path.name]


def test_one_boot_of_several_is_a_profile_on_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = write_sweep_run(tmp_path, "vcpus-1", "vcpus-2")
    for name in (f"{sweep.path}/boots/vcpus-2", "1/boots/vcpus-2", "last/vcpus-2", f"{sweep.path}/vcpus-2"):
        assert run(["profile", name, "--runs", str(tmp_path), "--against", "1/vcpus-1"]) == 0
        assert run(["advise", name, "--runs", str(tmp_path)]) == 0
    boot = sweep.path / "boots" / "vcpus-2"
    assert json.loads((boot / "result.json").read_text())["boot"] == str(boot)
    assert (boot / "report.html").is_file() and (boot / "difference.html").is_file()
    assert not sweep.result.exists() and not (sweep.path / "report.html").exists(), "those are of the slopes"
    capsys.readouterr()
    with pytest.raises(InputError, match="several boots, and this takes one: vcpus-1, vcpus-2") as raised:
        run(["profile", "last", "--runs", str(tmp_path)])
    assert raised.value.hint is not None and f"{sweep.path}/boots/vcpus-1" in raised.value.hint


def test_a_sweep_that_was_interrupted_is_shown_as_far_as_it_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = write_sweep_run(tmp_path, "vcpus-1")
    with pytest.raises(InputError, match="was interrupted and has no result yet"):
        run(["report", "last", "--runs", str(tmp_path)])
    samples = [make_point("vcpus", read_profile_run(sweep, "vcpus-1"))]
    document = make_sweep("made-up", "vcpus", samples, asked=2, run=str(sweep.path)).model_dump_json(by_alias=True)
    sweep.result.write_text(document)
    assert run(["report", "last", "--runs", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "interrupted: 1 of 2 boots" in out
    assert "no slopes: 1 of 2 boots were ready" in out
    assert (sweep.path / "report.html").is_file()


@pytest.mark.parametrize(
    ("detail", "error", "words"),
    [
        ("qemu: did not start: bootlab-plugin: /r/plugin.conf:7: unknown word 'x'", MissingTool, "this bootlab differ"),
        ("qemu: did not start: bootlab-plugin: unknown option 'profile=x'; there are", MissingTool, "bootlab differ"),
        ("qemu: did not start: -plugin: invalid option", MissingTool, "does not take bootlab's plugin"),
        ("qemu: did not start: bootlab-plugin: profile: 255 vCPUs: at most 64", BootFailed, "at most 64"),
        ("qemu: did not start: cannot set up guest memory", BootFailed, "cannot set up guest memory"),
    ],
)
def test_why_qemu_did_not_start(detail: str, error: type[BootlabError], words: str, profile_run: Run) -> None:
    record = read_record(profile_run.path / "boots" / "1")
    with pytest.raises(error, match=words):
        expect_started(record.model_copy(update={"outcome": Outcome.NOT_STARTED, "detail": detail}))


def test_other_runs_have_no_profile(tmp_path: Path) -> None:
    from bootlab.experiments.store import Store

    Store(tmp_path).start(RunKind.MEASURE, "x", {})
    with pytest.raises(InputError, match="a run of bootlab measure has no profile"):
        run(["advise", "1", "--runs", str(tmp_path)])


@pytest.mark.parametrize("name", ["profile.json", "profile.bin", "functions.txt", "record.json"])
@pytest.mark.parametrize("content", [b"", b"\xff{", b"{}"])
def test_damage_is_named(name: str, content: bytes, profile_run: Run, tmp_path: Path) -> None:
    (profile_run.path / "boots" / "1" / name).write_bytes(content)
    with pytest.raises((InputError, StoreError), match=name.replace(".", r"\.")):
        run(["profile", "1", "--runs", str(tmp_path)])


def test_lists_of_numbers() -> None:
    assert parse_numbers("--vcpus", "1,2,4", 1, 8) == [1, 2, 4]
    assert parse_numbers("--vcpus", "2..5", 1, 8) == [2, 3, 4, 5]
    assert parse_numbers("--vcpus", "1, 1..3", 1, 8) == [1, 2, 3]
    for text in ("", ",", "1,", "4..2", "9", "1..", "-1", "1e3", "1..255"):
        with pytest.raises(InputError, match="--vcpus"):
            parse_numbers("--vcpus", text, 1, 8 if text != "1..255" else 255)


def test_a_recorded_boot_is_priced_under_any_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exits are counted once, and priced as often as one likes: in the terminal, in JSON, and as folded stacks."""
    run_of = write_profile_run(tmp_path, traps=True)
    words = ["profile", "last", "--runs", str(tmp_path), "--price", "lean", "--price", "ibrs"]
    assert run([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["kvm"]
    assert document["exits"] == {"pio_vmm": 1234} and document["pages_4K"] == 1
    assert [one["4K"]["exits_ns"] for one in document["prices"]] == [1234 * 2500, 1234 * 6500]
    assert run([*words, "--export", "folded", "--export", "svg", "--to", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "1,234 exits, 1 pages up to ready" in shown and "lean ms ibrs ms" in shown
    assert (tmp_path / "out" / "profile.exits.folded").read_text() == "swapper/0-0;start_kernel 1234\n"
    priced = (tmp_path / "out" / "profile.price-ibrs.folded").read_text()
    assert priced == f"swapper/0-0;start_kernel {1234 * 6500 + 4300}\n"
    assert "1,234 exits, 100.00 %" in (tmp_path / "out" / "profile.exits.svg").read_text()
    assert run_of.path.is_dir()


def test_a_boot_whose_exits_were_not_counted_has_no_price(tmp_path: Path) -> None:
    write_profile_run(tmp_path)
    with pytest.raises(InputError, match="--price: what would leave a guest of KVM was not counted"):
        run(["profile", "last", "--runs", str(tmp_path), "--price", "lean"])
    with pytest.raises(InputError, match="lena: no host model of this name"):
        run(["profile", "last", "--runs", str(tmp_path), "--price", "lena"])


def test_a_price_is_of_an_architecture_with_known_exits(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is riscv64: the exits of x86-64 and arm64 guests of KVM are known"):
        run(["profile", str(ROOT / "examples" / "debian-riscv64.toml"), "--price", "lean", "--runs", str(tmp_path)])


def test_two_models_of_one_name_are_refused(tmp_path: Path) -> None:
    write_profile_run(tmp_path, traps=True)
    shipped = ROOT / "bootlab" / "price" / "host_models" / "lean.toml"
    (tmp_path / "own.toml").write_text(shipped.read_text())
    with pytest.raises(InputError, match="--price: two models of the name 'lean'"):
        run(["profile", "last", "--runs", str(tmp_path), "--price", "lean", "--price", str(tmp_path / "own.toml")])

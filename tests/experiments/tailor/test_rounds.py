"""The rounds of a tailoring: what is cut at once, halved, given up and tried no more, and what a resumed one repeats.

make, the compiler and kconfig really build each kernel, of four small parts and one function each; its boots are on
record, and say that the job ran none of the parts.
"""

import shutil
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed, InputError
from bootlab.experiments.engine import Engine
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.store import Run
from bootlab.experiments.tailor.kernel_trials import KernelTrials
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.kernels import Kernels
from bootlab.experiments.tailor.protected import Policy
from bootlab.experiments.tailor.reasons import Needed
from bootlab.experiments.tailor.rounds import Tailoring
from bootlab.experiments.tailor.tailored import Tailored
from bootlab.experiments.tailor.unused_options import Drop
from bootlab.experiments.tailor.values import Value
from bootlab.profile.asked.profiling import functions_text
from bootlab.system import KernelBuild, System
from tests.build.kernel.test_build import make_tree, needs_tools
from tests.profile.conftest import ProfileWriter
from tests.replayed import Answer, answer, new_run, replayed, rewrite

pytestmark = needs_tools

PARTS = ("ALPHA", "BETA", "GAMMA", "DELTA")
NUMBERS = ("ROOM", "PORTS", "TICKS")
STARTS = {name: 0xFFFFFFFF81000000 + 0x1000 * number for number, name in enumerate(("START", *PARTS))}
MS = 1_000_000
AT_PARTS = "".join(
    f"""$(O)/drivers/{name.lower()}.o: drivers/{name.lower()}.c
\tmkdir -p $(O)/drivers
\t$(CC) -mcmodel=kernel -fno-pie -c $< -o $@
"""
    for name in PARTS
)
LINK = """$(O)/vmlinux: $(O)/init/main.o $(foreach part,alpha beta gamma delta,$(O)/drivers/$(part).o) $(O)/.config
\tcd $(O) && $(CROSS_COMPILE)gcc -nostdlib -static -no-pie -Wl,-e,start_kernel -Wl,-Map=vmlinux.map STARTS \\
\t\tinit/main.o $$(for part in alpha beta gamma delta; do \\
\t\t\tif grep -qi CONFIG_$$part=y .config; then echo drivers/$$part.o; fi; done) -o vmlinux
"""


def function(name: str) -> str:
    return "start_kernel" if name == "START" else f"{name.lower()}_run"


def make_parts(tree: Path) -> Path:
    """Write the source of a kernel with four parts that can be left out."""
    make_tree(tree)
    options = "".join(f'config {name}\n\tbool "{name}"\n' for name in ("EXPERT", "VMLINUX_MAP", *PARTS))
    options += "".join(f'config {name}\n\tint "{name}"\n\trange 1 20\n\tdefault 17\n' for name in NUMBERS)
    (tree / "Kconfig").write_text((tree / "Kconfig").read_text() + options)
    makefile = (tree / "Makefile").read_text()
    makefile = makefile.replace("CONFIG_64BIT=y", "\\n".join(["CONFIG_64BIT=y", *(f"CONFIG_{one}=y" for one in PARTS)]))
    begin = makefile.index("$(O)/vmlinux: ")
    end = makefile.index("\tnm $@")
    starts = " ".join(f"-Wl,--section-start=.of.{function(name)}={at:#x}" for name, at in STARTS.items())
    makefile = makefile[:begin] + AT_PARTS + LINK.replace("STARTS", starts) + makefile[end:]
    makefile = makefile.replace("$(KCFLAGS) -g -c", "$(KCFLAGS) -mcmodel=kernel -fno-pie -g -c")
    makefile += "obj-y += init/ drivers/\n"
    (tree / "Makefile").write_text(makefile)
    (tree / "init/main.c").write_text(_source("START"))
    (tree / "drivers").mkdir()
    (tree / "drivers/Makefile").write_text("".join(f"obj-$(CONFIG_{name}) += {name.lower()}.o\n" for name in PARTS))
    (tree / "init/Makefile").write_text("obj-y := main.o\n")
    for name in PARTS:
        (tree / f"drivers/{name.lower()}.c").write_text(_source(name))
    return tree


def _source(name: str) -> str:
    called = function(name)
    return f'__attribute__((section(".of.{called}"))) int {called}(void) {{ return 1; }}\n'


def record_profile(boot: Path, start: int = 1000, part: str = "") -> None:
    """Leave in the directory of a boot what its profile did: the kernel's start ran, and of its parts one or none."""
    names = tuple(function(name) for name in STARTS)
    writer = ProfileWriter(names)
    writer.task("init", 1)
    writer.spend("init-1;start_kernel", start)
    if part:
        writer.spend(f"init-1;start_kernel;{function(part)}", 300)
    writer.cut("init_exec")
    writer.spend("init-1;start_kernel", 100)
    writer.cut("ready")
    writer.spend("init-1;start_kernel", 10)
    (boot / "profile.bin").write_bytes(writer.end())
    functions = ((at, "-", function(name)) for name, at in STARTS.items())
    (boot / "functions.txt").write_text(functions_text(functions))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A kernel that one test has built is there for the others."""
    return Workshop(Cache(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_parts(tmp_path_factory.mktemp("source") / "linux")


def small(folder: Path, tree: Path, *answers: Answer) -> System:
    """Return the recorded system with the kernel of parts; every boot is that of a profile."""
    system = replayed(folder, *answers)
    record_profile(folder / "recorded" / "ready-s1")
    build = KernelBuild(source=tree, base="tinyconfig")
    return system.with_part("kernel", package=None, suite=None, build=build)


def without(*options: str, **said: object) -> Answer:
    """Return an answer to boots whose kernel has none of `options`."""
    return answer({"kernel.build": "".join(rf'(?=.*"{option}": "n")' for option in options)}, **said)


def tailored(shop: Workshop, system: System, run: Run, *, builds: int = 20) -> Tailored:
    return Tailoring(shop, system, run, Policy(system), builds=builds).tailor()


def labels(result: Tailored) -> list[tuple[str, bool]]:
    return [(step.label, step.ready) for step in result.steps]


def test_what_the_job_did_not_use_goes_at_once(shop: Workshop, tree: Path, tmp_path: Path) -> None:
    system = small(tmp_path, tree, *(without(name, later_ns=-1 * MS) for name in PARTS))
    result = tailored(shop, system, new_run(tmp_path))
    assert labels(result) == [("as it is", True), ("cut 1", True)]
    assert {drop.option for drop in result.drops} >= set(PARTS)
    assert not result.on_after & set(PARTS)
    assert (result.comparison.verdict, result.comparison.saved_ns) == ("shorter", 4 * MS)


NEAR = [without(name, later_ns=-25_000) for name in PARTS]
"""All four save twice what the system moves by itself."""


def test_a_near_difference_is_confirmed_with_null_builds_of_both_kernels(
    shop: Workshop, tree: Path, tmp_path: Path
) -> None:
    result = tailored(shop, small(tmp_path, tree, *NEAR), new_run(tmp_path)).comparison
    assert (result.verdict, result.saved_ns) == ("shorter", 100_000)
    ends = [f"fresh{number}-build{(number - 1) % 2 + 1}-s{number + 3}" for number in range(1, 9)]
    assert [Path(path).name for path in result.fresh_before_runs] == [f"steady-{end}" for end in ends]
    assert [Path(path).name for path in result.fresh_after_runs] == [f"tailored-{end}" for end in ends[:5]]


@pytest.mark.parametrize("of", [r'"ALPHA": "n"', r'^(?!.*"ALPHA": "n")'], ids=["what it came to", "what it began with"])
def test_a_killed_fresh_boot_is_booted_again_by_a_resumed_tailoring(
    of: str, shop: Workshop, tree: Path, tmp_path: Path
) -> None:
    died = answer({"kernel.build": of, "kernel.cmdline": r"bootlab\.null=102"}, end="target died")
    system, run = small(tmp_path, tree, *NEAR, died), new_run(tmp_path)
    with pytest.raises(BootFailed) as caught:
        tailored(shop, system, run)
    assert caught.value.hint is not None and "--resume" in caught.value.hint
    rewrite(tmp_path, *NEAR)
    assert tailored(shop, system, run).comparison.verdict == "shorter"


def test_what_a_check_needs_is_found_by_halving(shop: Workshop, tree: Path, tmp_path: Path) -> None:
    system = small(tmp_path, tree, without("GAMMA", end="check failed", detail="no gamma"))
    result = tailored(shop, system, new_run(tmp_path))
    assert labels(result) == [
        ("as it is", True),
        ("cut 1", False),
        ("cut 1.1", True),
        ("cut 1.2", False),
        ("cut 1.2.1", True),
        ("cut 1.2.2", False),
    ]
    assert [drop.option for drop in result.drops] == ["ALPHA", "BETA", "DELTA"]
    (needed,) = result.needed
    assert needed.option == "GAMMA" and "check failed: no gamma" in needed.detail
    assert "GAMMA" in result.on_after and result.untried == ()
    kept = {one.option: one for one in result.kept}
    assert kept["GAMMA"].kind == "check"


def test_an_option_that_the_failure_names_is_not_looked_for(shop: Workshop, tree: Path, tmp_path: Path) -> None:
    system = small(tmp_path, tree, without("GAMMA", end="panicked", detail="needs CONFIG_GAMMA"))
    result = tailored(shop, system, new_run(tmp_path))
    assert labels(result) == [("as it is", True), ("cut 1", False), ("cut 1, GAMMA kept", True)]
    assert [drop.option for drop in result.drops] == ["ALPHA", "BETA", "DELTA"]


def test_what_makes_the_boot_longer_stays(shop: Workshop, tree: Path, tmp_path: Path) -> None:
    """By more than the system moves by itself, of which each boot here has 50 us."""
    system = small(tmp_path, tree, without("BETA", later_ns=3 * MS), without("GAMMA", later_ns=20_000))
    result = tailored(shop, system, new_run(tmp_path))
    assert [drop.option for drop in result.drops] == ["ALPHA", "DELTA", "GAMMA"]
    (needed,) = result.needed
    assert needed.option == "BETA" and needed.detail.startswith("longer: ready at 739.5")


def test_when_no_build_is_left_the_rest_is_untried_and_stays(shop: Workshop, tree: Path, tmp_path: Path) -> None:
    system = small(tmp_path, tree, without("GAMMA", end="hung"))
    result = tailored(shop, system, new_run(tmp_path), builds=3)
    assert labels(result) == [("as it is", True), ("cut 1", False), ("cut 1.1", True)]
    assert [drop.option for drop in result.drops] == ["ALPHA", "BETA"]
    assert (result.untried, result.needed) == (("DELTA", "GAMMA"), ())
    assert {"DELTA", "GAMMA"} <= result.on_after
    kept = {one.option: one.kind for one in result.kept}
    assert (kept["DELTA"], kept["GAMMA"]) == ("untried", "untried")


def test_a_kernel_that_does_not_link_is_a_step_that_failed(shop: Workshop, tmp_path: Path) -> None:
    """What kconfig does not know: one part calls another. Without both it builds."""
    tree = make_parts(tmp_path / "linux")
    caller = tree / "drivers/gamma.c"
    caller.write_text(caller.read_text().replace("return 1;", "extern int beta_run(void); return beta_run();"))
    system = small(tmp_path, tree, without("GAMMA", end="check failed"))
    result = tailored(shop, system, new_run(tmp_path))
    broken = next(step for step in result.steps if step.label == "cut 1.1")
    assert (broken.ready, broken.ready_ns) == (False, None) and broken.detail.startswith("make ")
    assert [drop.option for drop in result.drops] == ["ALPHA", "DELTA"]
    assert {one.option for one in result.needed} == {"BETA", "GAMMA"}


@pytest.mark.parametrize(
    ("answered", "complaint"),
    [
        (answer({}, end="check failed"), "check: fails before anything was dropped: check failed"),
        (answer("bootlab.null=2", end="check failed"), "check: flaky: 1 of 6 boots"),
        (answer({"seed": "^[23]$"}, end="hung"), "check: flaky: 4 of 6 boots"),
    ],
)
def test_a_check_that_fails_by_itself_is_refused(
    answered: Answer, complaint: str, shop: Workshop, tree: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=complaint):
        tailored(shop, small(tmp_path, tree, answered), new_run(tmp_path))


def test_a_tailoring_that_was_interrupted_goes_on_and_repeats_nothing(
    shop: Workshop, tree: Path, tmp_path: Path
) -> None:
    needs = without("GAMMA", end="check failed")
    system, run = small(tmp_path, tree, needs, without("ALPHA", "BETA", "DELTA", end="interrupted")), new_run(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        tailored(shop, system, run)
    made = [*run.path.glob("boots/*/record.json"), *run.path.glob("searches/*.json")]
    then = {path: path.stat().st_mtime_ns for path in made}
    assert {path.parent.name for path in made} > {"steady-s1"}
    rewrite(tmp_path, needs)
    result = tailored(shop, system, run)
    assert {path: path.stat().st_mtime_ns for path in made} == then
    assert [drop.option for drop in result.drops] == ["ALPHA", "BETA", "DELTA"]
    fresh = tailored(shop, system, new_run(tmp_path))
    assert labels(result) == labels(fresh)
    assert (result.needed, result.untried) == (fresh.needed, fresh.untried)


CUT = without(*PARTS).when
KILLED = {
    "a boot of the system as it is": answer({"seed": "^2$"}, end="target died"),
    "the profiled boot of a cut": answer(CUT, end="target died"),
    "a boot of what was tailored": answer({**CUT, "seed": "^3$"}, end="target died"),
}


@pytest.mark.parametrize("killed", KILLED.values(), ids=list(KILLED))
def test_a_killed_machine_counts_against_no_option(killed: Answer, shop: Workshop, tree: Path, tmp_path: Path) -> None:
    system, run = small(tmp_path, tree, killed), new_run(tmp_path)
    with pytest.raises(BootFailed) as caught:
        tailored(shop, system, run)
    assert caught.value.hint is not None and "--resume" in caught.value.hint
    rewrite(tmp_path)
    result = tailored(shop, system, run)
    assert labels(result) == [("as it is", True), ("cut 1", True)]
    assert result.needed == ()


STARTS_SLOWER = """__attribute__((section(".of.start_kernel"))) int start_kernel(int page)
{
#ifndef CONFIG_BETA
	for (int one = 0; one < page; one++)
		page ^= one * 3 + page / 7;
#endif
#ifdef CONFIG_DELTA
	page = page * page % 7;
#endif
	return page;
}
"""
COMPILED = """{gcc} -include linux/kconfig.h -I{tree}/include -c {tree}/init/main.c -o init/main.o

source_init/main.o := {tree}/init/main.c

deps_init/main.o := \\
  $(wildcard include/config/BETA) \\
  $(wildcard include/config/DELTA) \\
"""


def make_growing(tree: Path) -> Path:
    """Write a kernel whose start does more without BETA, and keeps how its object was compiled as kbuild does."""
    make_parts(tree)
    (tree / "init/main.c").write_text(STARTS_SLOWER)
    (tree / "include/linux").mkdir(parents=True)
    (tree / "include/linux/kconfig.h").write_text("")
    (tree / "init/main.cmd").write_text(
        "savedcmd_init/main.o := " + COMPILED.format(gcc="gcc -mcmodel=kernel -fno-pie", tree=tree)
    )
    makefile = (tree / "Makefile").read_text()
    compiles = "-g -c init/main.c -o $@\n"
    assert compiles in makefile
    makefile = makefile.replace(compiles, f"{compiles}\tcp init/main.cmd $(O)/init/.main.o.cmd\n")
    (tree / "Makefile").write_text(makefile + "init/main.o: $(O)/init/main.o\n\t@:\n")
    return tree


def grow(folder: Path) -> None:
    """Let there be a recorded boot whose kernel's start executes half as much more."""
    shutil.copytree(folder / "recorded/ready-s1", folder / "recorded/grown-s1")
    record_profile(folder / "recorded/grown-s1", 1500)


def test_an_option_without_which_other_code_grew_comes_back(shop: Workshop, tmp_path: Path) -> None:
    """The cut as a whole saves 3 ms, so that no boot shows that one option of it costs 1."""
    tree = make_growing(tmp_path / "linux")
    answers = [without(name, later_ns=-2 * MS) for name in ("ALPHA", "GAMMA")]
    system = small(tmp_path, tree, *answers, without("BETA", later_ns=1 * MS, boot="grown-s1"))
    grow(tmp_path)
    run = new_run(tmp_path)
    result = tailored(shop, system, run)
    (grown,) = result.grown
    assert (grown.label, grown.object, grown.function) == ("cut 1", "init/main.o", "start_kernel")
    assert (grown.after - grown.before, grown.suspects, grown.again) == (500, ("BETA", "DELTA"), "BETA")
    assert grown.detail.startswith("BETA: +1.000 ms saved")
    assert [label for label, _ in labels(result)] == ["as it is", "cut 1", "BETA again"]
    assert {drop.option for drop in result.drops} >= {"ALPHA", "GAMMA", "DELTA"} and "BETA" in result.on_after
    assert result.needed == (Needed("BETA", "longer: start_kernel in init/main.o executed 500 instructions more"),)
    assert result.comparison.saved_ns == 4 * MS
    # One whose objects a killed build has taken along makes what it needs.
    for folder in (shop.cache.root / "kernel-objects").iterdir():
        (folder / "building").touch()
    assert tailored(shop, system, new_run(tmp_path / "later")).grown == result.grown
    # One that goes on does not compile or look again.
    searches = {path: path.stat().st_mtime_ns for path in run.path.glob("searches/*.json")}
    assert tailored(shop, system, run).grown == result.grown
    assert searches == {path: path.stat().st_mtime_ns for path in run.path.glob("searches/*.json")}


def test_growth_that_no_option_explains_is_told(shop: Workshop, tmp_path: Path) -> None:
    """Each suspect is tried, and that its return saves nothing is said."""
    tree = make_growing(tmp_path / "linux")
    system = small(tmp_path, tree, without("ALPHA", later_ns=-2 * MS), without("BETA", boot="grown-s1"))
    grow(tmp_path)
    (grown,) = tailored(shop, system, new_run(tmp_path)).grown
    assert grown.again == "" and "BETA: " in grown.detail and "DELTA: " in grown.detail
    (grown,) = tailored(shop, system, new_run(tmp_path), builds=2).grown
    assert grown.detail == "BETA: not tried for want of builds; DELTA: not tried for want of builds"


def with_value(value: str, **said: object) -> Answer:
    """Return an answer to boots whose kernel was given a value by name."""
    option, _, number = value.partition("=")
    return answer({"kernel.build": f'"{option}": "{number}"'}, **said)


def test_values_are_tried_in_the_end_and_those_that_save_stay(shop: Workshop, tree: Path, tmp_path: Path) -> None:
    asked = [Value("ROOM", "12"), Value("PORTS", "4"), Value("TICKS", "1"), Value("ROOM", "12")]
    answers = (with_value("ROOM=12", later_ns=-2 * MS), with_value("TICKS=1", end="hung"))
    system, run = small(tmp_path, tree, *answers), new_run(tmp_path)
    result = Tailoring(shop, system, run, Policy(system), builds=20).tailor(asked)
    assert [label for label, _ in labels(result)] == [
        "as it is",
        "cut 1",
        "with ROOM=12",
        "with PORTS=4",
        "with TICKS=1",
    ]
    said = [(one.option, one.value, one.before, one.outcome, one.saved_ns) for one in result.values]
    assert said == [
        ("ROOM", "12", "17", "stays", 2 * MS),
        ("PORTS", "4", "17", "goes", 0),
        ("TICKS", "1", "17", "goes", None),
        ("ROOM", "12", "12", "not tried", None),
    ]
    assert result.values[2].detail.startswith("hung") and result.values[3].detail == "it is 12 already"
    assert result.system.kernel.build is not None
    given = result.system.kernel.build.options
    assert given["ROOM"] == "12" and not given.keys() & {"PORTS", "TICKS"}
    assert (result.drops[-1].option, result.drops[-1].value) == ("ROOM", "12")
    assert result.comparison.saved_ns == 2 * MS


def test_a_value_for_which_no_build_is_left_is_untried_and_a_resumed_tailoring_tries_it(
    shop: Workshop, tree: Path, tmp_path: Path
) -> None:
    system, run = small(tmp_path, tree, with_value("ROOM=12", later_ns=-2 * MS)), new_run(tmp_path)
    asked = [Value("ROOM", "12")]
    (untried,) = Tailoring(shop, system, run, Policy(system), builds=2).tailor(asked).values
    assert (untried.outcome, untried.detail) == ("not tried", "no build was left (--builds)")
    more = Tailoring(shop, system, run, Policy(system), builds=3).tailor(asked)
    assert [one.outcome for one in more.values] == ["stays"]


def test_of_two_members_of_a_choice_the_better_one_stays(shop: Workshop, tmp_path: Path) -> None:
    tree = make_parts(tmp_path / "linux")
    members = ("HZ_250", "HZ_100", "HZ_1000")
    choice = "".join(f'config {name}\n\tbool "{name}"\n' for name in members)
    (tree / "Kconfig").write_text(f'{(tree / "Kconfig").read_text()}choice\n\tprompt "ticks"\n{choice}endchoice\n')
    answers = [with_value("HZ_100=y", later_ns=-1 * MS), with_value("HZ_1000=y", later_ns=-3 * MS)]
    system = small(tmp_path, tree, *answers)
    asked = [Value("HZ_100", "y"), Value("HZ_1000", "y")]
    result = Tailoring(shop, system, new_run(tmp_path), Policy(system), builds=20).tailor(asked)
    assert [(one.outcome, one.saved_ns) for one in result.values] == [("stays", 1 * MS), ("stays", 2 * MS)]
    assert [drop.option for drop in result.drops][-1] == "HZ_1000" and "HZ_100" not in result.on_after
    kept = {one.option: one.kind for one in result.kept}
    assert kept["HZ_1000"] == "asked"


def test_two_members_of_a_choice_do_not_take_turns(shop: Workshop, tmp_path: Path) -> None:
    """Whichever is on has run, and the other one would take its code out."""
    tree = make_parts(tmp_path / "linux")
    text = (tree / "Kconfig").read_text()
    members = [f'config {name}\n\tbool "{name}"\n' for name in ("ALPHA", "BETA")]
    for member in members:
        text = text.replace(member, "")
    (tree / "Kconfig").write_text(f'{text}choice\n\tprompt "way"\n{"".join(members)}endchoice\n')
    makefile = (tree / "Makefile").read_text()
    (tree / "Makefile").write_text(makefile.replace("CONFIG_BETA=y", "# CONFIG_BETA is not set"))
    system = small(tmp_path, tree, answer({"kernel.build": '"BETA": "y"'}, boot="beta-s1"))
    shutil.copytree(tmp_path / "recorded/ready-s1", tmp_path / "recorded/beta-s1")
    record_profile(tmp_path / "recorded/ready-s1", part="ALPHA")
    record_profile(tmp_path / "recorded/beta-s1", part="BETA")
    result = tailored(shop, system, new_run(tmp_path), builds=50)
    members_tried = [label for label, _ in labels(result)]
    assert len(members_tried) <= 5 and len({"ALPHA", "BETA"} & result.on_after) == 1, members_tried


def test_what_a_kernel_was_longer_without_goes_with_no_others(shop: Workshop, tmp_path: Path) -> None:
    system = small(tmp_path, make_parts(tmp_path / "linux"))
    kernels = Kernels(shop, system, system.kernel.build or pytest.fail("no build"))
    boots = FamilyBoots(Engine(new_run(tmp_path / "more")), shop, (1, 2, 3), wall=False)
    trials = KernelTrials(shop, new_run(tmp_path / "trials"), kernels, boots, Policy(system), 9)
    first = trials.first(kernels.with_options({}))
    trials.needed.append(Needed("ALPHA", "longer"))
    outcome = trials.attempt([Drop("ALPHA", (), (), (), 0, 0, Use.NEVER)], "cut 2", first.ready_ns)
    assert outcome == "CONFIG_ALPHA would take ALPHA along, without which a kernel was tried"


def test_protection_that_would_go_by_what_other_drops_left_stays(shop: Workshop, tmp_path: Path) -> None:
    """Without BETA alone, and without ALPHA alone, SECCOMP is there: only both together take it away."""
    tree = make_parts(tmp_path / "linux")
    seccomp = 'config SECCOMP\n\tbool "filters"\n\tdefault y\n\tdepends on ALPHA || BETA\n'
    (tree / "Kconfig").write_text((tree / "Kconfig").read_text() + seccomp)
    system = small(tmp_path, tree, *(without(name, later_ns=-1 * MS) for name in PARTS))
    result = tailored(shop, system, new_run(tmp_path))
    assert "SECCOMP" in result.on_after and {"ALPHA", "BETA"} & result.on_after == {"BETA"}
    assert [label for label, _ in labels(result)] == ["as it is", "cut 1"], "no build is spent on finding out"
    kernels = Kernels(shop, system, system.kernel.build or pytest.fail("no build"))
    boots = FamilyBoots(Engine(new_run(tmp_path / "more")), shop, (1, 2, 3), wall=False)
    trials = KernelTrials(shop, new_run(tmp_path / "trials"), kernels, boots, Policy(system), 9)
    first = trials.first(kernels.with_options({}))
    both = [Drop(name, (), (), (), 0, 0, Use.NEVER) for name in ("ALPHA", "BETA")]
    assert trials.attempt(both, "both", first.ready_ns) == "CONFIG_BETA would take SECCOMP along, " + (
        "access-control: goes only by name (--give-up SECCOMP)"
    )
    assert trials.attempt(both[:1], "one", first.ready_ns, wanted=both[1]) == (
        "kconfig does not grant it on top of the others"
    )
    assert [step.label for step in trials.steps] == ["as it is"], "nothing was built for either"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Value("RUM", "12"), "--try RUM=12: Linux .*: it has no option RUM"),
        (Value("ROOM", "much"), "--try ROOM=much: Linux .*: ROOM is a number"),
        (Value("ROOM", "21"), "--try ROOM=21: Linux .*: ROOM is from 1 to 20"),
        (Value("ALPHA", "n"), "--try ALPHA=n: Linux .*: ALPHA is no number and no member of a choice"),
    ],
)
def test_a_value_that_cannot_be_is_refused_before_anything_is_built(
    value: Value, said: str, shop: Workshop, tree: Path, tmp_path: Path
) -> None:
    system, run = small(tmp_path, tree), new_run(tmp_path)
    accepted = list[str]()
    with pytest.raises(InputError, match=said):
        Tailoring(shop, system, run, Policy(system), builds=2).tailor([value], accepted=lambda: accepted.append("yes"))
    assert not run.records() and not accepted

"""What the plugin takes 32-bit arm instructions for, both sets, against what binutils' objdump says they are."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PREFIX = "arm-linux-gnueabihf-"
PLUGIN = Path(__file__).parents[2] / "plugin"

pytestmark = pytest.mark.skipif(shutil.which(f"{PREFIX}as") is None, reason=f"{PREFIX}as is not installed")

A32 = """
bl a; bleq a; bl b; blx r3; blxne r3; blx t; bx lr; bxne lr; bx r3; mov pc, lr; moveq pc, lr; movs pc, lr
subs pc, lr, #4; mov pc, r3; add pc, pc, r2, lsl #2; addls pc, pc, r2, lsl #2; sub pc, lr, #4; ldr pc, [pc, #4]
ldr pc, [sp], #4; ldrcc pc, [r8, r7, lsl #2]; ldr pc, [sp, #4]; pop {r4, pc}; popne {r4, r5, pc}
ldm sp, {fp, sp, pc}; ldr pc, [r3], #4; ldmdb fp, {r4, fp, sp, pc}; ldmia r4, {r4-sl, fp, sp, pc}; ldm sp, {r0-pc}^
ldmdb sp, {r0-lr}^; rfeia sp!; rfedb r0; eret; wfi; wfe; nop; b a; beq a; bgt b; pop {r4, lr}; push {r4, lr}
push {r4, pc}; ldr r3, [pc, #4]; ldr lr, [sp], #4; cmp pc, #1; tst pc, pc; mul r14, r1, r2; umull r1, r14, r3, r2
add lr, pc, #8; mov lr, pc; svc #0; smc #0; clz r14, r1; strd r4, r5, [sp]; ldrh r4, [pc, #4]; movw r12, #0xf00f
mrs r0, cpsr; msr spsr_fsxc, r1; vldmia r14, {d0-d15}; isb; mcr p15, 0, r14, c7, c0, 4
mrc p15, 0, APSR_nzcv, c0, c1, 0; pld [r15]; str pc, [r1]; stm r1, {r2, pc}; swp r1, r2, [r3]; ssat r1, #4, r2
uxtb r3, r14; vmrs APSR_nzcv, fpscr; cpsid i; clrex; dsb sy; orr r15, r1, r2; bic pc, r1, #3; bkpt #1
"""
T32 = """
bl t; bl u; blx a; blx r3; bx lr; it ne; bxne lr; bx r3; mov pc, lr; mov pc, r5; add pc, r2; pop {r4, pc}
pop.w {r4, r8, pc}; ldmdb r7, {r4, pc}; ldmia.w r4!, {r5-sl, fp, lr}; ldmia.w r4, {r4-sl, fp, pc}
ldr.w pc, [sp], #4; ldr.w pc, [sp, #8]; ldr.w pc, [r8, sl, lsl #2]; ldr.w pc, [pc, #12]; ldr.w pc, [r3, #-4]
ldr.w pc, [r3], #4; subs pc, lr, #0; subs pc, lr, #4; rfeia sp!; rfedb r0; wfi; wfi.w; wfe; nop; nop.w; b t; beq t
b.w t; bne.w t; b.w u; blt.w u; cbz r0, 1f; 1: tbb [pc, r0]; tbh [pc, r0, lsl #1]; addw lr, pc, #5
subw lr, pc, #471; ldr.w r3, [sp], #4; svc #0; udf #2; push {r4, lr}; bkpt #1; msr spsr_fsxc, r1; mrs r0, cpsr
movw r12, #0xf00f; dsb sy; clrex; strex r1, r2, [sp]; ldrd r4, r5, [sp]; mov r8, r12; it eq; popeq {r4, pc}; it cc
ldrcc.w pc, [r8, r7, lsl #2]; push {r4-r7}; pop {r4-r7}; stmdb sp!, {r4-r8, lr}; mov lr, r1
mcr p15, 0, r14, c7, c0, 4; vldmia r12, {d0-d15}; cmp.w r1, #256; pld [r3]; cpsid i; isb; it al; bal.n t
"""
CONDITION = "(?:eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?"
LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f]+(?: [0-9a-f]+)?) +\t(\S+)\s*(.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin's own decoder, as a program."""
    program = tmp_path_factory.mktemp("arm") / "arm_flow"
    sources = [PLUGIN / "tests" / "arm_flow.c", PLUGIN / "code" / "arm_instructions.c"]
    subprocess.run(["cc", "-O1", f"-I{PLUGIN}", "-o", program, *sources], check=True)
    return program


def expected(word: str, operands: str) -> str:
    """Return what an instruction is by its name in assembly code."""
    word = word.removesuffix(".w").removesuffix(".n")
    to_pc = re.match(r"pc\b", operands) is not None
    if re.fullmatch(rf"blx?{CONDITION}", word):
        return "call"
    if re.fullmatch(rf"(?:rfe\w*|eret){CONDITION}", word) or (to_pc and re.fullmatch(r"movs|subs", word)):
        return "exception-return"
    if re.fullmatch(rf"wfi{CONDITION}", word):
        return "halt"
    if re.match(r"ldm|pop", word) and re.search(r"\bpc\}", operands):
        return "exception-return" if operands.endswith("^") else "return"
    if re.match(r"ldm", word) and re.search(r"-pc\}", operands):
        return "exception-return" if operands.endswith("^") else "return"
    if re.fullmatch(rf"bx{CONDITION}", word) or (to_pc and re.fullmatch(rf"mov{CONDITION}", word)):
        return "return" if operands.endswith("lr") else "jump-indirect"
    if to_pc and re.fullmatch(rf"ldr{CONDITION}", word):
        return "return" if operands.startswith("pc, [sp], #") else "jump-indirect"
    if to_pc and re.fullmatch(rf"(?:add|sub|orr|bic){CONDITION}", word):
        return "jump-indirect"
    return "jump" if re.fullmatch(rf"b{CONDITION}", word) else "none"


@pytest.mark.parametrize(("name", "code"), [("a", A32), ("t", T32)])
def test_instructions(flow: Path, tmp_path: Path, name: str, code: str) -> None:
    other = "u" if name == "t" else "b"
    body = "\n".join(line.strip() for line in code.replace(";", "\n").splitlines() if line.strip())
    thumb = f".thumb\n.thumb_func\n{'' if name == 't' else 't: bx lr'}\n"
    text = (
        f".syntax unified\n.arch armv7ve\n.arch_extension virt\n.arch_extension sec\n.fpu neon\n"
        f".arm\n{'' if name == 'a' else 'a: bx lr'}\n"
        + (thumb if name == "t" else "")
        + f"{name}:\n{body}\n.space 3000\n{other}: nop\n"
        + (thumb if name == "a" else "")
    )
    (tmp_path / "code.s").write_text(text)
    subprocess.run([f"{PREFIX}as", "-o", "code.o", "code.s"], cwd=tmp_path, check=True)
    subprocess.run([f"{PREFIX}ld", "-Ttext=0x10000", "-e", "0", "-o", "code", "code.o"], cwd=tmp_path, check=True)
    listing = subprocess.check_output(
        [f"{PREFIX}objdump", "-d", "-M", "reg-names-std", "code"], cwd=tmp_path, text=True
    )
    listing = listing[listing.index(f"<{name}>:") : listing.index(f"<{other}>:")]
    found = [match.groups() for match in LINE.finditer(listing) if match[3] != "..."]
    asked = []
    for address, encoding, _, _ in found:
        words = encoding.split()
        data = b"".join(int(word, 16).to_bytes(len(word) // 2, "little") for word in words)
        asked.append(f"{name} {address} {data.hex()}")
    answers = subprocess.check_output([flow], input="\n".join(asked), text=True).splitlines()
    assert len(answers) == len(found) > 60
    for (address, encoding, word, operands), answer in zip(found, answers, strict=True):
        kind, target = answer.split()
        operands = operands.partition("@")[0].strip()
        assert kind == expected(word, operands), f"{address}: {encoding} {word} {operands}: {answer}"
        goes_to = re.match(r"([0-9a-f]+) <", operands)
        if kind in ("call", "jump") and goes_to and not (name == "t" and word == "blx"):
            assert target == goes_to[1], f"{address}: {encoding} {word} {operands}: {answer}"
        elif kind not in ("call", "jump"):
            assert target == "-"

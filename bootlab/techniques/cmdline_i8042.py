"""Do not probe for a PS/2 mouse, multiplexer and PNP entries."""

from bootlab.techniques.cmdline import kernel_words, x86_only
from bootlab.techniques.evidence import line_vanishes
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_i8042",
    words="i8042.noaux i8042.nomux i8042.nopnp i8042.dumbkbd",
    summary="probes the keyboard controller for a keyboard only, without mouse, multiplexer and status lights",
    mechanism=(
        "The i8042 driver talks to the controller through two I/O ports and waits for each answer; the mouse "
        "port and the multiplexer test are most of that conversation. Under a hypervisor each access is an "
        "exit."
    ),
    cost="no PS/2 mouse; Ctrl-Alt-Del sent by a hypervisor may be lost with nopnp",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "a few tens of milliseconds", "FC: firecracker-microvm/firecracker 81b38b9, docs/api_requests/actions.md"
        ),
        Source("about 8 ms (noise)", "MVM: tinylabscom/mvm issues 2292, 2299, 2574"),
    ),
    prove=line_vanishes("i8042 AUX port"),
    applies=x86_only,
    removes=Removes(
        "probing of the PS/2 mouse port and multiplexer",
        functions=(
            "i8042_check_aux",
            "i8042_toggle_aux",
            "i8042_setup_aux",
            "i8042_set_mux_mode",
            "i8042_pnp_init",
        ),
    ),
)

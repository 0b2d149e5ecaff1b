"""What a system file of an output folder says besides: how its kernel is built again, for who changes its options."""

from pathlib import Path

from bootlab.build.outputs.as_system import rebuilt_kernel
from bootlab.build.outputs.recognise import is_output, read_output
from bootlab.system.text import kernel_text


def rebuilt_comment(path: Path) -> str:
    """Return lines of comment for the system file of an output folder; empty for other systems, and without a source.

    Raises InputError as `open_system`.
    """
    kernel = rebuilt_kernel(read_output(path)) if is_output(path) else None
    if kernel is None:
        return ""
    lines = [
        "The kernel above is as it was built. In the place of [kernel] these lines build it again, of the same source",
        "and configuration, with Debian's compiler: then `bootlab try` can change its options, and `tailor` fit it.",
        *kernel_text(kernel).splitlines(),
    ]
    return "\n" + "".join(f"# {line}".rstrip() + "\n" for line in lines)

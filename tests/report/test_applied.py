"""What the accounts of trials and tailorings have in common: files, how they are heeded, what is by hand."""

from pathlib import Path, PurePosixPath

from bootlab.build.deployment.carried import Carried
from bootlab.report.applied import Written, apply_document, apply_view, files_sections
from bootlab.report.tailor.applied import found_kernel
from tests.report.tailor.test_reasons import RESULT


def test_files_say_what_they_are_for_and_what_is_left(tmp_path: Path) -> None:
    made = Carried(by_hand={"machine.vcpus": "2 -> 1: set it where the machine is started"})
    made.add(PurePosixPath("root/etc/x"), "a\n", "the system itself")
    document = apply_document(found_kernel(RESULT), made, Written(tmp_path, image=tmp_path / "new.img"))
    text = "\n".join(files_sections(document, boots="boots it"))
    assert "| `root/etc/x` | the system itself |" in text and "sh apply.sh ROOT" in text
    assert "| `machine.vcpus` | 2 -> 1: set it where the machine is started |" in text
    assert "`bootlab boot system.toml` boots it." in text
    said = "\n".join(map(str, apply_view(document).lines))
    assert "new.img: the image with the stack laid in" in said and "by hand, in no file:\n  machine.vcpus" in said

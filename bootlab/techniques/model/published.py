"""Who published which figure about a technique, and the sources that many of them cite."""

from dataclasses import dataclass

NONE_PUBLISHED = "none published"

AGNOS = "COM: commaai/agnos-builder issue 216"
BOOTLIN_2019 = (
    'BL19: M. Opdenacker, "Timing Boot Time Reduction Techniques", Bootlin, ELCE 2019; BeagleBone Black, Linux 5.1'
)
BOOTLIN_TRAINING = "BL: Bootlin boot-time training slides"
BOOTLIN_SLIDES = f"{BOOTLIN_TRAINING}, bootlin/training-materials 3d3e192"
CLEAR_LINUX = "CL: Phoronix, Clear Linux kernel 3 s to 300 ms"
CROZAT_2008 = "Frederic Crozat, Improving boot time on a general Linux distribution, September 2008 (Mandriva 2009)"
FIRECRACKER = "FC: firecracker-microvm/firecracker 81b38b9"
FIRECRACKER_CONTAINERD = (
    "FCC: firecracker-containerd issue 410; Firecracker's own example: 79 ms kernel + 231 ms userspace"
)
GARZARELLA_2019 = "SG: Stefano Garzarella, 2019-08-23"
KATO_2016 = 'K. Kato, "Improvement of Start-up Time on Linux-Based IVI System", Panasonic, 2016'
KATA = "KATA: kata-containers 01e56a7, qemu_amd64.go"
LINUX_612 = "K612: Linux 6.12.117 source"
OWN_CATALOGUE = "techniques catalogue of this project, no published figure found"
VENTURA_2024 = 'DV: David Ventura, "Minimizing Linux boot times", 2024, DavidVentura/blog c798a2e'


@dataclass(frozen=True, slots=True)
class Published:
    """A published figure and where it comes from. `figure` is quoted as published, or `none published`."""

    figure: str
    where: str


def none_published(where: str) -> Published:
    """Return that no figure was published, and `where` it was looked for."""
    return Published(NONE_PUBLISHED, where)

"""How Cloud Hypervisor keeps a machine and goes on from one: the requests, and its files.

    vm.pause; vm.snapshot          vm.restore; vm.resume

It has names of its own for the files, in a folder that it is told. In a snapshot they are called what they are under
every target, and a clone's folder has links to them by the names that it looks for.
"""

import json
from typing import Final

from bootlab.errors import StoreError
from bootlab.snapshot.refusals import RAM, STATE
from bootlab.system import CloudHypervisor
from bootlab.targets.cloud_hypervisor.configuration import ROOT
from bootlab.targets.vmm.api import ApiCall
from bootlab.targets.vmm.snapshots import MEMORY_S, VmmSnapshot

PAUSE: Final = ApiCall("PUT", f"{ROOT}/vm.pause")
RESUME: Final = ApiCall("PUT", f"{ROOT}/vm.resume")
RESTORE: Final = f"{ROOT}/vm.restore"
CONFIGURATION: Final = "configuration"
"""The machine as Cloud Hypervisor writes it down, beside its state and its memory."""
NAMES: Final = {"config.json": CONFIGURATION, "state.json": STATE, "memory-ranges": RAM}
"""Its own name of each file, and that in a snapshot."""
_LINKS: Final = "kept"
_MODES: Final = {"copy": "Copy", "ondemand": "OnDemand"}
"""What its API calls what its command line, and a system file, has in small letters."""


class CloudHypervisorSnapshot(VmmSnapshot):
    """What Cloud Hypervisor is asked for a snapshot."""

    def creating(self) -> ApiCall:
        """Return the request that writes the machine down."""
        assert self.keeping is not None
        body = {"destination_url": f"file://{self.keeping.folder.absolute()}"}
        return ApiCall("PUT", f"{ROOT}/vm.snapshot", body, MEMORY_S)

    def take_in(self) -> None:
        """Give what it wrote its names in a snapshot. Raises StoreError for a file that is not whole.

        It does not look whether its writes of configuration and state were short (vmm/src/vm.rs of 53.0).
        """
        assert self.keeping is not None
        folder = self.keeping.folder
        for its, name in NAMES.items():
            (folder / its).rename(folder / name)
        for name in (CONFIGURATION, STATE):
            try:
                json.loads((folder / name).read_bytes())
            except ValueError as error:
                raise _not_whole(name) from error
        if (folder / RAM).stat().st_size != self.system.machine.memory_mib << 20:
            raise _not_whole(RAM)

    def put_links(self) -> None:
        """Have the snapshot's files where it looks for them by its own names."""
        assert self.restored is not None
        links = self.folder / _LINKS
        links.mkdir()
        for its, name in NAMES.items():
            (links / its).symlink_to(self.restored.folder.absolute() / name)

    def loading(self, target: CloudHypervisor) -> ApiCall:
        """Return the request that takes the machine up, which then stands still."""
        body = {
            "source_url": f"file://{self.folder / _LINKS}",
            "prefault": target.prefault,
            "memory_restore_mode": _MODES[target.memory_restore_mode],
            "resume": False,
        }
        return ApiCall("PUT", RESTORE, body, MEMORY_S)


def _not_whole(name: str) -> StoreError:
    return StoreError(
        f"the machine cannot be kept: Cloud Hypervisor wrote half of its {name}, and says nothing of it",
        hint="free some space, or --runs DIR",
    )

"""The network's addresses: somebody sets them."""

from bootlab.system import KernelBuild, System
from bootlab.techniques.kernel.network import PATCH
from tests.techniques.asking import KERNEL, NOTHING


def test_the_network_is_configured_by_somebody(built: System) -> None:
    asks = built.with_cmdline("ip=10.0.2.15::10.0.2.2:255.255.255.0::eth0:off")
    assert "(ip=)" in (KERNEL["kernel_ip_pnp_off"].change.applies(asks, NOTHING) or "")
    changed = KERNEL["kernel_ipconfig_no_wait"].change.apply(asks, NOTHING)
    assert isinstance(changed.kernel.build, KernelBuild)
    assert changed.kernel.build.patches == (PATCH,)
    assert changed.kernel.build.options == {"IP_PNP_SETTLE_MS": "0"}
    assert PATCH.is_file()

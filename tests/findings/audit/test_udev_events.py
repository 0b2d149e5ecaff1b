"""Which device each of udev's workers handled, and what that cost."""

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding


def test_each_event_has_its_device_and_all_that_it_cost(findings: dict[str, Finding], evidence: AuditedBoot) -> None:
    events = evidence.udev_events
    assert [event.device for event in events] == ["/devices/pci0/virtio0", "/devices/pnp0/ttyS0"]
    assert events[0].modules == ("virtio_blk", "floppy") and events[1].programs == ("/lib/udev/helper",)
    assert [event.cost.ns for event in events] == [20_000 + 500_000 + 50_000 + 500_000, 101_000 + 500_000]
    assert findings["uevents"].cost_ns == sum(event.cost.ns for event in events) + 131_000, "and udevd's own"

"""Every option of a tailoring as text: a line each."""

from bootlab.report.tailor.reasons import reasons

DROPS = [
    {"option": "MULTIUSER", "value": "n", "why": "given up by name", "bytes": 1308371, "instructions": 1638771,
     "with_it": ["AUDIT"]},
    {"option": "NO_TESTS", "value": "y", "why": "takes out tests by being on", "bytes": 5, "instructions": 7,
     "with_it": []},
]  # fmt: skip
DOCUMENT = {
    "system": "small",
    "dropped": DROPS,
    "followed": [{"option": "CRC64", "why": "all that selected it went: DM, MD"}],
    "gained": ["NO_TESTS"],
    "kept": [
        {"option": "EXT4_FS", "kind": "used", "why": "executed: ext4_mount in fs/ext4/super.o"},
        {"option": "NO_TESTS", "kind": "turned on", "why": "takes out tests by being on"},
    ],
}


def test_each_option_has_its_line() -> None:
    head, *lines = reasons(DOCUMENT).splitlines()
    assert head.startswith("# small: every option")
    assert [line.split(maxsplit=2) for line in lines if not line.startswith("#")] == [
        ["-", "AUDIT", "went with MULTIUSER"],
        ["-", "CRC64", "all that selected it went: DM, MD"],
        ["=", "EXT4_FS", "executed: ext4_mount in fs/ext4/super.o"],
        ["-", "MULTIUSER", "given up by name; 1,308,371 bytes, 1,638,771 instructions"],
        ["+", "NO_TESTS", "turned on: takes out tests by being on"],
    ]

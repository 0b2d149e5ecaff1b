"""What a technique removes beside what others remove alike."""

from bootlab.techniques.model.removed_work import Removes


def test_what_takes_more_begins_with_what_it_shares() -> None:
    shared = Removes("loading", functions=("load",), keeps=("init",), shortens=("[firmware]",))
    more = shared.also("link", what="loading and linking", shortens=("unpack",))
    assert more == Removes(
        "loading and linking", functions=("load", "link"), keeps=("init",), shortens=("[firmware]", "unpack")
    )
    assert shared.also("link").what == "loading"

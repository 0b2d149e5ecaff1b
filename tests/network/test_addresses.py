"""The addresses of the guest's network: none is another's, and a card's is written as people write it."""

from bootlab.network import addresses as a


def test_everybody_has_an_address_of_its_own() -> None:
    assert len({a.GUEST, a.ROUTER, a.NAMESERVER, a.METADATA}) == 4
    assert a.GUEST not in a.OURS and a.GUEST_MAC != a.OUR_MAC


def test_a_card_address_in_words() -> None:
    assert a.mac_words(a.GUEST_MAC) == "52:54:00:12:34:56"

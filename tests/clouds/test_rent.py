"""What instances cost at most."""

import json

from bootlab.clouds.rent import Estimate, estimate, read_price
from bootlab.system import Ec2Instance

ASKED = Ec2Instance(kind="ec2", launch={"ImageId": "ami-1", "InstanceType": "t3.micro"}, usd_per_hour=0.36)


def test_a_minute_is_billed_at_least() -> None:
    assert Estimate(1, 10, 0.36, "").usd == Estimate(1, 60, 0.36, "").usd
    assert estimate(ASKED, 10, 600, "eu-central-1").usd == 0.6


def test_a_price_that_nobody_knows_is_said() -> None:
    unknown = Estimate(2, 60, None, "the price list has none")
    assert unknown.usd is None and "2 instances of 60 s at most, at a price that is not known" in unknown.words


def test_an_entry_of_the_price_list() -> None:
    def entry(usd: str, unit: str = "Hrs") -> str:
        dimension = {"x": {"unit": unit, "pricePerUnit": {"USD": usd}}}
        return json.dumps({"terms": {"OnDemand": {"a": {"priceDimensions": dimension}}}})

    assert read_price(entry("0.0116")) == 0.0116
    for wrong in (entry("0.0"), entry("1", "Quantity"), entry("much"), "{}", "not JSON", "[]", '{"terms": 3}'):
        assert read_price(wrong) is None

"""What instances will cost at most, before any is launched: Amazon's price list, and the time they may take."""

import json
from dataclasses import dataclass
from typing import Any, Final

from bootlab.clouds.ec2_client import open_client, saying
from bootlab.errors import BootlabError
from bootlab.system import Ec2Instance

_LEAST_BILLED_S: Final = 60
# The price list is asked there, whatever region it is asked about.
_PRICES_AT: Final = "us-east-1"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What `boots` instances cost at most. `usd_per_hour` is None where nobody knows the price."""

    boots: int
    seconds_each: int
    usd_per_hour: float | None
    source: str

    @property
    def usd(self) -> float | None:
        """Return the most that they cost together; None where the price is not known."""
        if self.usd_per_hour is None:
            return None
        return self.boots * max(self.seconds_each, _LEAST_BILLED_S) * self.usd_per_hour / 3600

    @property
    def words(self) -> str:
        """Return it in a line."""
        each = f"{self.boots} instance{'s' if self.boots != 1 else ''} of {self.seconds_each} s at most"
        if self.usd is None:
            return f"estimate: {each}, at a price that is not known ({self.source})"
        return f"estimate: {each}, {self.usd_per_hour:g} USD/h ({self.source}): at most {self.usd:.4f} USD"


def estimate(asked: Ec2Instance, boots: int, seconds_each: int, region: str) -> Estimate:
    """Return what so many boots cost at most, on demand, without disks and traffic."""
    if asked.usd_per_hour is not None:
        return Estimate(boots, seconds_each, asked.usd_per_hour, "target.usd_per_hour")
    price, source = _listed(asked, region)
    return Estimate(boots, seconds_each, price, source)


def read_price(listed: str) -> float | None:
    """Return the USD an hour of one entry of the price list, as the API gives it; None where there is none in it."""
    try:
        terms: Any = json.loads(listed)["terms"]["OnDemand"]
        prices = [
            float(one["pricePerUnit"]["USD"])
            for term in terms.values()
            for one in term["priceDimensions"].values()
            if one.get("unit") == "Hrs"
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return next((price for price in prices if price > 0), None)


def _listed(asked: Ec2Instance, region: str) -> tuple[float | None, str]:
    wanted = {
        "instanceType": str(asked.launch["InstanceType"]),
        "regionCode": region,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
    }
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]
    try:
        client = open_client("pricing", _PRICES_AT, asked.profile)
        with saying("GetProducts"):
            found = client.get_products(ServiceCode="AmazonEC2", Filters=filters, MaxResults=10)
    except (BootlabError, NotImplementedError) as error:
        return None, f"the price list: {getattr(error, 'message', error)}; target.usd_per_hour says it"
    prices = [price for one in found.get("PriceList", []) if (price := read_price(one)) is not None]
    if not prices:
        return None, "the price list has none; target.usd_per_hour says it"
    return max(prices), "price list, on demand"

"""Let the kernel configure its network."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_ip_pnp",
    options={"IP_PNP": "y"},
    needs=("INET",),
    summary="lets the kernel configure its network from ip= on the command line",
    mechanism="The card is opened and given its address before init runs, with a sleep of 10 ms in between.",
    cost="at least 10 ms of waiting when ip= is given",
    risk=Risk.NONE,
    sources=(Source("35.2 -> 55.6 ms with ip= (6.7.3)", VENTURA_2024),),
    adds=True,
)

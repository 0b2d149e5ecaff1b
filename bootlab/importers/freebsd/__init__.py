"""What FreeBSD says of a boot: TSLOG and boottrace."""

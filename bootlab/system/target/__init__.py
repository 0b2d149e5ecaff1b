"""Where a system boots when none is emulated: what a [target] says of a board, a host, a rented machine, a record"""

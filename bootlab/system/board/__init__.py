"""A modelled board: its card or flash chip, the time that its parts take, and which other tables it goes with."""

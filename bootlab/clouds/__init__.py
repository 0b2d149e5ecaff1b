"""Machines that are rented: made, watched and ended, and found again by who must end what others left."""

"""A snapshot and its clones, shown: what was kept, and when each clone woke and answered"""

"""A ledger, shown: where each system stands, its history, two entries side by side, and its known issues"""

"""Snapshots: a machine kept at a mark, and clones of it that must differ from each other and repeat exactly"""

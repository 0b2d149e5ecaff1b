"""A machine on a network: switched by commands, and asked from outside until it answers"""

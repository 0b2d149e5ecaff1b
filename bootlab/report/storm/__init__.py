"""A launch storm, shown: how long machines took together, their memory, and what held them up"""

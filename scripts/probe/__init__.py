"""Code for the user's interpreter (Python 3.9+, torch 2.6+): watch, capture, replay, compare.

It runs by file path, never through the aoti_debug package, which that interpreter need not have.
"""

"""Inputs, weights and packages on a device that is another one or not there."""

"""Kernels of the default method: arrays in, arrays filled."""

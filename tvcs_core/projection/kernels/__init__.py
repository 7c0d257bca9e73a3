"""Jitted code of the projection: arrays in, arrays filled."""

"""Shifts: a day on one phone, with requests that arrive one after the other.

A day has house rules that apply to everything done, other people who write, and duties drawn from a
library. Rules change during the day, without announcement in the requests.
"""

"""Maps and bookings: places, opening hours, routes, saved lists, rooms, tables and trains.

There is one city with its street graph, and trains to neighbouring cities. Independent of tasks.
"""

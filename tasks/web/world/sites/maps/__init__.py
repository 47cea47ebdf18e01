"""Maps and bookings: places, opening hours, routes, saved lists, rooms, tables and trains.

It knows nothing of tasks; one city with its street graph, and trains to neighbouring cities.
"""

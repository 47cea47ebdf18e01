"""Calendar: events, recurring ones, rooms with rules, invitations and free time.

It rejects bookings that a room does not allow; whether people have time is left to the organiser.
"""

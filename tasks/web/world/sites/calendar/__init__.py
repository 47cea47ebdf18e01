"""Calendar: events, recurring ones, rooms with rules, invitations and free time.

It refuses what a room does not allow; whether people have time is left to whoever plans.
"""

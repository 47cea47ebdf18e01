"""Operations on a phone: what a request asks for, as a script and as its effect on the tables.

Templates and shifts are lists of operations. The effects are written independently of the apps'
own handlers, so that every expected state is derived twice.
"""

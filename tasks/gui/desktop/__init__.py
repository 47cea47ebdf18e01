"""Tasks on a Linux desktop: documents, the programs that edit them, and the work to do on them.

Independent of how programs are run, seen and operated, and of how results are scored.
"""

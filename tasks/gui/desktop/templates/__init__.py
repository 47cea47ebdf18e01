"""Templates of desktop tasks, by the program whose documents they are about.

Each draws documents, a request, the documents that are right afterwards, and scripts. How programs
are operated stands in `moves`; how documents are compared, elsewhere.
"""

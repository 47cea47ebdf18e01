"""Templates of desktop tasks, by the program whose documents they are about.

Each draws the initial documents, a request, the expected documents and scripts. `moves` operates
the programs; documents are compared elsewhere.
"""

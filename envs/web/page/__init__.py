"""Pages as trees of nodes, and the accessibility tree that agents read.

The browser's snapshots and the twin's parsed pages both become `PageNode` trees, so one piece of
code writes what an agent sees. Knows neither browser nor sites.
"""

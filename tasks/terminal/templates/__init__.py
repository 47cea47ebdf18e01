"""The templates of generated terminal tasks, by subject.

The form of the directory that a draft becomes, and how it is judged, is not known here.
"""

"""The templates of generated terminal tasks, by subject.

Independent of the form of the directory that a draft becomes and of how it is judged.
"""

"""Database engines behind one small interface, locked against anything an agent may write.

They are part of the tasks because three parties need identical locks: the generator, the grader
(which runs the submitted statement again on pristine copies) and the environment.
"""

"""Database engines behind one small interface, locked against whatever an agent may write.

They stand among the tasks because three sides need the very same locks: the generator, the grader
(which runs the submitted statement again on pristine copies) and the environment.
"""

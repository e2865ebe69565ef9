"""
What the contracts of a trial ask beyond its trace: told from the case, recorded beside it, and answered on replay.

The traffic of judges and of embedding models lies in `cassettes/_judge/<model>/<set>/<case>.<trial>.yaml`, one file for
all designs that answer the case, and is found by the answer that it is about.
"""

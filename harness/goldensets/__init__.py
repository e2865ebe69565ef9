"""Golden sets: the only code that touches the top-level folder `goldensets/`, its worlds apart."""

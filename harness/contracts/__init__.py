"""Contracts: named rules over a trace, and the judge that holds a trial against them."""

"""
The pages of `harness serve`: the playground, the runs, the door, and what an agent's own pages build on.

`routes` answers with them, `rendering` fills the templates and writes their policy, `languages` has their words, `assets`
hands out styles and scripts. Everything that a page loads comes from here; nothing on a page is run but these scripts.
"""

"""The same motions by tools people use today: Exudyn's multibody solvers, MuJoCo and SUNDIALS IDA.

Each file runs one tool on the systems of `polhode.references`, or on what `polhode.peers.mechanism` can say, and
returns the arrays of `polhode.peers.runs`. The tools are optional, `pip install 'polhode[peers]'`, and are imported
only when a run asks for them.
"""

from polhode.peers.installed import available

__all__ = ["available"]

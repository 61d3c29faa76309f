"""Reference solutions of rolling and jointed systems, derived apart from the integrators they judge.

Each file solves one system by a closed form or by its reduced equations in minimal
coordinates, with numpy and scipy alone: nothing here knows the constrained equations that
`polhode` integrates elsewhere. Parameters are frozen dataclasses in SI units.
"""

"""Runs as datasets, files and pictures."""

from polhode.results.accessor import OfDataset, load
from polhode.results.animation import animate
from polhode.results.family import Family
from polhode.results.plots import Plots
from polhode.results.registry import PLOTS, plot
from polhode.results.run import Run
from polhode.results.scene import Actor, Scene, Trail
from polhode.results.store import save
from polhode.results.style import for_print

__all__ = [
    "PLOTS",
    "Actor",
    "Family",
    "OfDataset",
    "Plots",
    "Run",
    "Scene",
    "Trail",
    "animate",
    "for_print",
    "load",
    "plot",
    "save",
]

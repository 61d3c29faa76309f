"""Input files and what they describe."""

from polhode.inputs.job import Job, job_of

__all__ = ["Job", "job_of"]

"""Register the planted operators of gpu_checks, for the process that replays their calls."""

import gpu_checks
import torch

gpu_checks.planted(torch)

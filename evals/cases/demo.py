"""A small service: sort support tickets with a model compiled ahead of time.

The first request is answered, the second one fails.
"""

import tempfile
import warnings
from pathlib import Path

import torch
from torch.export import Dim

WORDS = 1000  # rows of the embedding table
LENGTH = 12  # tokens of a ticket


class TicketSorter(torch.nn.Module):
    """Which of five teams a ticket is for, from its tokens and their weights."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(WORDS, 32)
        self.hidden = torch.nn.Linear(32, 64)
        self.teams = torch.nn.Linear(64, 5)

    def forward(self, ids, weights):
        tokens = self.words(ids) * weights.unsqueeze(-1)
        ticket = tokens.sum(1) / weights.sum(1, keepdim=True)
        return self.teams(torch.relu(self.hidden(ticket))).softmax(-1)


def compile_model(package):
    torch.manual_seed(0)
    batch = Dim("batch", min=2, max=64)
    example = (torch.randint(0, WORDS, (4, LENGTH)), torch.rand(4, LENGTH))
    shapes = {"ids": {0: batch}, "weights": {0: batch}}
    with torch.no_grad():
        program = torch.export.export(TicketSorter().eval(), example, dynamic_shapes=shapes)
    torch._inductor.aoti_compile_and_package(program, package_path=package)


def requests():
    """Two batches of tickets; the second was tokenized with a newer, larger vocabulary."""
    yield torch.randint(0, WORDS, (3, LENGTH)), torch.rand(3, LENGTH)
    ids = torch.randint(0, WORDS, (5, LENGTH))
    ids[3, 7] = 1024
    yield ids, torch.rand(5, LENGTH)


def main():
    with tempfile.TemporaryDirectory() as folder:
        package = str(Path(folder) / "tickets.pt2")
        print("compiling", flush=True)
        warnings.simplefilter("ignore", FutureWarning)  # torch warns about its own code
        compile_model(package)
        print("loading", flush=True)
        model = torch._inductor.aoti_load_package(package)
        for number, (ids, weights) in enumerate(requests(), 1):
            teams = model(ids, weights).argmax(-1)
            print(f"request {number}: {len(ids)} tickets for teams {teams.tolist()}", flush=True)


if __name__ == "__main__":
    main()

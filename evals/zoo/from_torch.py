"""Rows of plain torch."""

from __future__ import annotations

import plain
import torch
from architectures import add, ids, image
from torch import nn


def whole(below, *shape):
    return torch.randint(0, below, shape)


def row(name, build, give, *ways, **more):
    add(name, "torch", build, give, *ways, **more)


# fmt: off
row("unet_diffusion", plain.DiffusionUNet, lambda: {"sample": torch.randn(2, 3, 16, 16), "timestep": whole(1000, 2)}, bounds={"timestep": 1000})
row("unet_diffusion_bf16", plain.DiffusionUNet, lambda: {"sample": torch.randn(2, 3, 16, 16), "timestep": whole(1000, 2)}, "bfloat16", "channels_last", bounds={"timestep": 1000})
row("vae", plain.VariationalAutoencoder, lambda: {"image": torch.randn(2, 3, 16, 16), "noise": torch.randn(2, 4, 8, 8)}, "batch")
row("lstm_tagger", plain.Recurrent, ids("tokens", 200), bounds={"tokens": 200})
row("gru_tagger", lambda: plain.Recurrent(nn.GRU), ids("tokens", 200), bounds={"tokens": 200})
row("deep_recommender", plain.DeepRecommender, lambda: {"dense": torch.randn(4, 13), "users": whole(100, 4, 3), "items": whole(300, 4, 5), "shops": whole(50, 4, 2)}, "batch", bounds={"users": 100, "items": 300, "shops": 50})
row("offsets_recommender", plain.OffsetsRecommender, lambda: {"ids": whole(120, 10), "offsets": torch.tensor([0, 3, 3, 7, 10])}, bounds={"ids": 120})
row("two_tower", plain.TwoTower, lambda: {"user": whole(80, 4), "item": whole(160, 6)}, bounds={"user": 80, "item": 160})
row("fourier_operator", plain.FourierOperator, lambda: {"field": torch.randn(2, 24, 1)})
row("spectrogram", plain.Spectrogram, lambda: {"wave": torch.randn(2, 640)})
row("graph_network", plain.GraphNetwork, lambda: {"nodes": torch.randn(20, 8), "source": whole(20, 40), "target": whole(20, 40)}, bounds={"source": 20, "target": 20})
row("sparse_propagation", plain.SparsePropagation, lambda: {"x": torch.randn(20, 8), "indices": whole(20, 2, 40), "values": torch.rand(40)})
row("padded_sequences", plain.PaddedSequences, lambda: {"values": whole(90, 20), "offsets": torch.tensor([0, 5, 12, 20])}, bounds={"values": 90})
row("cached_decoder", plain.CachedDecoderLayer, lambda: {"token": whole(120, 2, 1), "keys": torch.randn(2, 4, 6, 8), "values": torch.randn(2, 4, 6, 8)}, bounds={"token": 120}, dynamic={"keys": {2: "past"}, "values": {2: "past"}})
row("mixture_of_experts", plain.MixtureOfExperts, lambda: {"x": torch.randn(6, 16)}, "batch")
row("position_table", plain.PositionTable, ids("tokens", 100), bounds={"tokens": 100}, dynamic={"tokens": {1: "length"}}, positions="length")
row("detector", plain.Detector, image(name="image", size=32), "channels_last")
row("detector_fp16", plain.Detector, image(name="image", size=32), "float16", "batch")
row("point_cloud", plain.Pointwise, lambda: {"points": torch.randn(2, 40, 3)}, "batch")
row("transformer_encoder", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0), 2, enable_nested_tensor=False), lambda: {"src": torch.randn(2, 10, 32)})
row("transformer_int8", lambda: nn.TransformerDecoderLayer(32, 4, 64, batch_first=True, dropout=0.0), lambda: {"tgt": torch.randn(2, 7, 32), "memory": torch.randn(2, 10, 32)})

"""Architectures written in plain torch: what the model libraries do not have, or not alone."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class ResidualBlock(nn.Module):
    def __init__(self, channels, time=0):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, channels), nn.GroupNorm(4, channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.time = nn.Linear(time, channels) if time else None

    def forward(self, x, time=None):
        h = self.conv1(F.silu(self.norm1(x)))
        if self.time is not None:
            h = h + self.time(F.silu(time))[:, :, None, None]
        return x + self.conv2(F.silu(self.norm2(h)))


class SpatialAttention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.GroupNorm(4, channels)
        self.qkv = nn.Conv2d(channels, channels * 3, 1)
        self.out = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).flatten(2).transpose(1, 2).chunk(3, -1)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(1, 2).reshape(b, c, h, w))


class DiffusionUNet(nn.Module):
    """Predict the noise of an image at a step of diffusion."""

    def __init__(self, channels=16):
        super().__init__()
        self.steps = nn.Embedding(1000, channels)
        self.time = nn.Sequential(nn.Linear(channels, 32), nn.SiLU(), nn.Linear(32, 32))
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.down = ResidualBlock(channels, 32)
        self.shrink = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.middle, self.attention = ResidualBlock(channels, 32), SpatialAttention(channels)
        self.up = nn.Conv2d(2 * channels, channels, 3, padding=1)
        self.last = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, sample, timestep):
        time = self.time(self.steps(timestep))
        skip = self.down(self.first(sample), time)
        h = self.attention(self.middle(self.shrink(skip), time))
        h = F.interpolate(h, scale_factor=2.0, mode="nearest")
        return self.last(F.silu(self.up(torch.cat([h, skip], 1))))


class VariationalAutoencoder(nn.Module):
    def __init__(self, channels=16, latent=4):
        super().__init__()
        self.encode = nn.Sequential(
            nn.Conv2d(3, channels, 3, stride=2, padding=1),
            ResidualBlock(channels),
            SpatialAttention(channels),
            nn.Conv2d(channels, 2 * latent, 1),
        )
        self.decode = nn.Sequential(
            nn.Conv2d(latent, channels, 1),
            ResidualBlock(channels),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(channels, 3, 3, padding=1),
        )

    def forward(self, image, noise):
        mean, log_variance = self.encode(image).chunk(2, 1)
        latent = mean + noise * torch.exp(0.5 * log_variance.clamp(-30, 20))
        return self.decode(latent), mean, log_variance


class Recurrent(nn.Module):
    """Tag each token with a recurrent network of two directions."""

    def __init__(self, kind=nn.LSTM, vocabulary=200, size=24):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, size)
        self.rnn = kind(size, size, num_layers=2, bidirectional=True, batch_first=True)
        self.tag = nn.Linear(2 * size, 9)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.tag(hidden).log_softmax(-1)


class DeepRecommender(nn.Module):
    """Click probability: bags of ids and dense features, with pairwise interactions."""

    def __init__(self, rows=(100, 300, 50), size=16):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(n, size, mode="sum") for n in rows)
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, size))
        pairs = (len(rows) + 1) * len(rows) // 2
        self.top = nn.Sequential(nn.Linear(size + pairs, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, dense, users, items, shops):
        given = zip((users, items, shops), self.tables)  # noqa: B905
        vectors = [self.bottom(dense), *(table(ids) for ids, table in given)]
        stacked = torch.stack(vectors, 1)
        products = torch.bmm(stacked, stacked.transpose(1, 2))
        row, column = torch.triu_indices(stacked.shape[1], stacked.shape[1], 1).unbind()
        return torch.sigmoid(self.top(torch.cat([vectors[0], products[:, row, column]], 1)))


class OffsetsRecommender(nn.Module):
    """Bags of any length, as one list of ids and where each bag begins."""

    def __init__(self, rows=120, size=16):
        super().__init__()
        self.bag = nn.EmbeddingBag(rows, size, mode="mean", include_last_offset=True)
        self.score = nn.Linear(size, 1)

    def forward(self, ids, offsets):
        return torch.sigmoid(self.score(self.bag(ids, offsets)))


class TwoTower(nn.Module):
    def __init__(self, users=80, items=160, size=16):
        super().__init__()
        self.users, self.items = nn.Embedding(users, size), nn.Embedding(items, size)
        self.user, self.item = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, user, item):
        left = F.normalize(self.user(self.users(user)), dim=-1)
        right = F.normalize(self.item(self.items(item)), dim=-1)
        return left @ right.T


class FourierOperator(nn.Module):
    """A neural operator: mixes low frequencies, as in models of fluids."""

    def __init__(self, channels=8, modes=5):
        super().__init__()
        self.modes = modes
        self.lift = nn.Linear(1, channels)
        self.weight = nn.Parameter(torch.randn(channels, channels, modes, 2) / channels)
        self.skip = nn.Linear(channels, channels)
        self.out = nn.Linear(channels, 1)

    def forward(self, field):
        x = self.lift(field)
        spectrum = torch.fft.rfft(x, dim=1)[:, : self.modes]
        mixed = torch.einsum("bmi,iom->bmo", spectrum, torch.view_as_complex(self.weight))
        back = torch.fft.irfft(mixed, n=x.shape[1], dim=1)
        return self.out(F.gelu(back + self.skip(x)))


class Spectrogram(nn.Module):
    """Classify sound by its log spectrum."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.net = nn.Sequential(nn.Conv1d(33, 16, 3), nn.ReLU(), nn.Conv1d(16, 8, 3))

    def forward(self, wave):
        spectrum = torch.stft(wave, 64, 32, window=self.window, return_complex=True)
        return self.net(torch.log1p(spectrum.abs())).mean(-1)


class GraphNetwork(nn.Module):
    """Two rounds of messages along the edges of a graph."""

    def __init__(self, size=16):
        super().__init__()
        self.first, self.second = nn.Linear(8, size), nn.Linear(size, 4)

    def gather(self, x, source, target):
        return torch.zeros_like(x).index_add(0, target, x.index_select(0, source))

    def forward(self, nodes, source, target):
        h = F.relu(self.gather(self.first(nodes), source, target))
        return self.gather(self.second(h), source, target)


class SparsePropagation(nn.Module):
    """A graph layer on an adjacency in coordinates, multiplied as a sparse matrix."""

    def __init__(self, nodes=20):
        super().__init__()
        self.nodes, self.fc = nodes, nn.Linear(8, 8)

    def forward(self, x, indices, values):
        adjacency = torch.sparse_coo_tensor(indices, values, (self.nodes, self.nodes))
        return F.relu(self.fc(torch.sparse.mm(adjacency, x)))


class PaddedSequences(nn.Module):
    """Sequences of different lengths as one list of values and offsets (jagged), then padded."""

    def __init__(self, size=16, longest=12):
        super().__init__()
        self.longest = longest
        self.embed = nn.Embedding(90, size)
        self.mix = nn.TransformerEncoderLayer(size, 2, 32, batch_first=True, dropout=0.0)

    def forward(self, values, offsets):
        place = offsets[:-1, None] + torch.arange(self.longest, device=values.device)
        inside = place < offsets[1:, None]
        rows = self.embed(values)[place.clamp(max=values.shape[0] - 1)]
        return self.mix(rows * inside[..., None]).sum(1)


class CachedDecoderLayer(nn.Module):
    """One step of a decoder that is given its cache and returns the longer one."""

    def __init__(self, size=32, heads=4, vocabulary=120):
        super().__init__()
        self.heads = heads
        self.embed = nn.Embedding(vocabulary, size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.head = nn.Linear(size, vocabulary)

    def forward(self, token, keys, values):
        x = self.embed(token)
        shape = (x.shape[0], 1, self.heads, -1)
        q, k, v = (part.reshape(shape).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        y = F.scaled_dot_product_attention(q, keys, values)
        x = x + self.out(y.transpose(1, 2).reshape(x.shape))
        return self.head(x), keys, values


class MixtureOfExperts(nn.Module):
    def __init__(self, size=16, experts=4):
        super().__init__()
        self.gate = nn.Linear(size, experts)
        self.up = nn.Parameter(torch.randn(experts, size, 32) / size**0.5)
        self.down = nn.Parameter(torch.randn(experts, 32, size) / 32**0.5)

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(-1).topk(2, -1)
        h = F.silu(torch.einsum("bd,edh->beh", x, self.up))
        every = torch.einsum("beh,ehd->bed", h, self.down)
        picked = every.gather(1, chosen[..., None].expand(-1, -1, x.shape[-1]))
        return x + (picked * weight[..., None]).sum(1)


class PositionTable(nn.Module):
    """A language model whose table of positions is shorter than the longest input promised."""

    def __init__(self, positions=24, vocabulary=100, size=32):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, size), nn.Embedding(positions, size)
        self.layer = nn.TransformerEncoderLayer(size, 4, 64, batch_first=True, dropout=0.0)
        self.head = nn.Linear(size, vocabulary)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.layer(self.token(tokens) + self.position(places)))


class Detector(nn.Module):
    """A dense detection head over two scales: boxes and classes of every cell."""

    def __init__(self, channels=16, classes=5):
        super().__init__()
        self.stem, self.down = (
            nn.Sequential(nn.Conv2d(before, channels, 3, 2, 1), nn.BatchNorm2d(channels), nn.SiLU())
            for before in (3, channels)
        )
        self.lateral = nn.Conv2d(channels, channels, 1)
        self.boxes = nn.Conv2d(channels, 4, 3, padding=1)
        self.classes = nn.Conv2d(channels, classes, 3, padding=1)

    def forward(self, image):
        fine = self.stem(image)
        coarse = self.down(fine)
        fine = self.lateral(fine) + F.interpolate(coarse, scale_factor=2.0)
        found = [torch.cat([self.boxes(x), self.classes(x)], 1).flatten(2) for x in (fine, coarse)]
        return torch.cat(found, 2).transpose(1, 2)


class Pointwise(nn.Module):
    """Classify a cloud of points."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 32, 1)
        )
        self.head = nn.Linear(32, 6)

    def forward(self, points):
        return self.head(self.net(points.transpose(1, 2)).amax(-1))

"""Rows of torchvision and timm."""

from __future__ import annotations

import importlib

import torch
from architectures import add, image

# fmt: off
SEGMENTS = {"weights_backbone": None, "_module": "segmentation"}
INCEPTION = {"init_weights": False, "aux_logits": False}
# A name of torchvision.models, its arguments, the image's size, the ways.
TORCHVISION = (
    ("resnet18", {}, 64, "float16", "channels_last"),
    ("resnet50", {}, 64, "batch"),
    ("wide_resnet50_2", {}, 48),
    ("resnext50_32x4d", {}, 48, "channels_last"),
    ("alexnet", {}, 80),
    ("vgg11_bn", {}, 48),
    ("squeezenet1_1", {}, 64, "batch"),
    ("densenet121", {}, 48),
    ("googlenet", INCEPTION, 64),
    ("inception_v3", INCEPTION, 80),
    ("mobilenet_v2", {}, 64, "bfloat16"),
    ("mobilenet_v3_small", {}, 64, "channels_last"),
    ("mnasnet0_5", {}, 64),
    ("shufflenet_v2_x0_5", {}, 64, "batch"),
    ("efficientnet_b0", {}, 64),
    ("regnet_y_400mf", {}, 64, "float16"),
    ("convnext_tiny", {}, 48, "bfloat16"),
    ("vit_b_32", {"image_size": 64, "num_layers": 2, "hidden_dim": 64, "mlp_dim": 128, "num_heads": 4, "patch_size": 16, "_class": "VisionTransformer"}, 64),
    ("swin_t", {"patch_size": [4, 4], "embed_dim": 24, "depths": [1, 1], "num_heads": [2, 4], "window_size": [4, 4], "_class": "SwinTransformer"}, 32),
    ("maxvit", {"input_size": (64, 64), "stem_channels": 16, "partition_size": 4, "block_channels": [16, 32], "block_layers": [1, 1], "head_dim": 8, "stochastic_depth_prob": 0.0, "_class": "MaxVit"}, 64),
    ("fcn_resnet50", SEGMENTS, 64),
    ("deeplabv3_mobilenet_v3_large", SEGMENTS, 64),
    ("lraspp_mobilenet_v3_large", SEGMENTS, 64),
    ("r3d_18", {"_module": "video"}, 32),
    ("mc3_18", {"_module": "video"}, 32),
    ("r2plus1d_18", {"_module": "video"}, 32),
    ("swin3d_t", {"patch_size": [2, 4, 4], "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "window_size": [2, 4, 4], "_module": "video", "_class": "SwinTransformer3d"}, 32),
    ("raft_small", {"_module": "optical_flow"}, 128),
)
SWIN = {"img_size": 32, "window_size": 4, "embed_dim": 16, "depths": (1, 1), "num_heads": (2, 4)}
DEPTHS = {"depths": (1, 1, 1, 1)}
VIT = {"img_size": 32, "patch_size": 8, "embed_dim": 32, "depth": 2, "num_heads": 4}
# A name of timm, its arguments, the image's size, the ways.
TIMM = (
    ("vit_tiny_patch16_224", VIT, 32, "float16", "batch"),
    ("deit_tiny_patch16_224", VIT, 32),
    ("beit_base_patch16_224", VIT, 32),
    ("eva02_tiny_patch14_224", VIT, 32),
    ("cait_xxs24_224", {**VIT, "depth_token_only": 1}, 32),
    ("xcit_nano_12_p16_224", {"img_size": 32, "embed_dim": 32, "depth": 2, "num_heads": 4}, 32),
    ("mixer_s32_224", {"img_size": 64}, 64, "batch"),
    ("gmixer_12_224", {"img_size": 32}, 32),
    ("gmlp_ti16_224", {"img_size": 32}, 32),
    ("resmlp_12_224", {"img_size": 32}, 32, "float16"),
    ("convmixer_768_32", {}, 48),
    ("resnet10t", {}, 64, "max_autotune"),
    ("resnest14d", {}, 48),
    ("seresnet18", {}, 48),
    ("ecaresnet26t", {}, 48),
    ("skresnet18", {}, 48),
    ("res2net50_14w_8s", {"layers": [1, 1, 1, 1]}, 48),
    ("regnetx_002", {}, 48, "bfloat16"),
    ("regnety_002", {}, 48, "channels_last"),
    ("mobilenetv3_small_050", {}, 64),
    ("mobilenetv4_conv_small_050", {}, 64),
    ("lcnet_035", {}, 64, "batch"),
    ("tinynet_e", {}, 64),
    ("efficientnet_lite0", {}, 64),
    ("ghostnet_050", {}, 64),
    ("hardcorenas_a", {}, 64),
    ("fbnetc_100", {}, 64),
    ("convnext_atto", DEPTHS, 48, "max_autotune", "channels_last"),
    ("convnextv2_atto", DEPTHS, 48),
    ("edgenext_xx_small", {"depths": (1, 1, 2, 1)}, 64),
    ("mobilevitv2_050", {}, 64),
    ("mobileone_s0", {}, 48),
    ("repvgg_a0", {}, 48),
    ("fastvit_t8", {"layers": (1, 1, 1, 1)}, 64),
    ("poolformer_s12", {}, 64),
    ("caformer_s18", {}, 64),
    ("swin_tiny_patch4_window7_224", SWIN, 32),
    ("swinv2_tiny_window8_256", SWIN, 32),
    ("pvt_v2_b0", {}, 64),
    ("twins_svt_small", {"img_size": 64, "depths": (1, 1, 1, 1)}, 64),
    ("nest_tiny", {"img_size": 64, "patch_size": 4}, 64),
    ("coat_lite_tiny", {"img_size": 64, "serial_depths": (1, 1, 1, 1)}, 64),
    ("tnt_s_patch16_224", {"img_size": 32, "embed_dim": 32, "inner_dim": 16, "depth": 2, "num_heads_outer": 4, "num_heads_inner": 4}, 32),
    ("visformer_tiny", {"img_size": 64, "depth": (1, 1, 1)}, 64),
    ("levit_128s", {"img_size": 64, "depth": (1, 1, 1)}, 64),
    ("mambaout_femto", DEPTHS, 64),
    ("hrnet_w18_small", {}, 64),
    ("dla34", {}, 64),
    ("darknet53", {}, 48),
    ("cspresnet50", {}, 48),
    ("dm_nfnet_f0", {}, 48),
    ("inception_next_tiny", DEPTHS, 64),
    ("focalnet_tiny_srf", {}, 64),
    ("repvit_m0_9", {}, 64),
    ("starnet_s1", {}, 64),
    ("davit_tiny", DEPTHS, 64),
    ("sequencer2d_s", {"layers": (1, 1, 1, 1), "embed_dims": (16, 32, 32, 32), "hidden_sizes": (8, 8, 8, 8)}, 56),
    ("crossvit_tiny_240", {"embed_dim": (16, 32), "depth": ((1, 1, 0),), "num_heads": (2, 2)}, 240),
    ("mixnet_s", {}, 48, "channels_last"),
    ("lambda_resnet26t", {}, 64),
    ("convit_tiny", {**VIT, "depth": 3, "local_up_to_layer": 2}, 32, "bfloat16"),
    ("hiera_tiny_224", {"img_size": (64, 64), "stages": (1, 1, 1, 1)}, 64),
)
# fmt: on


def with_torchvision():
    """Import torchvision, whose wheel asks for its own operators, also beside a torch for the CPU."""
    try:
        importlib.import_module("torchvision")
    except RuntimeError:  # they are built for CUDA; no row uses them
        schema = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        for name in ("nms", "qnms"):
            torch.library.define(f"torchvision::{name}", schema)
        importlib.import_module("torchvision")


def of_torchvision(name, options):
    def build():
        with_torchvision()
        module = importlib.import_module(
            "torchvision.models" + (f".{options['_module']}" if "_module" in options else "")
        )
        given = {k: v for k, v in options.items() if not k.startswith("_")}
        if "_class" in options:
            return getattr(module, options["_class"])(num_classes=10, **given)
        return getattr(module, name)(weights=None, **given)

    return build


def of_timm(name, options):
    def build():
        with_torchvision()
        import timm

        return timm.create_model(name, pretrained=False, num_classes=10, **options)

    return build


def frames(size):
    return lambda: {"x": torch.randn(1, 3, 4, size, size)}


def flow(size):
    return lambda: {name: torch.randn(1, 3, size, size) for name in ("image1", "image2")}


for name, options, size, *ways in TORCHVISION:
    give = {"video": frames, "optical_flow": flow}.get(options.get("_module", ""))
    one = image(3, size, "input" if name.startswith("lraspp") else "x")
    add(name, "torchvision", of_torchvision(name, options), give(size) if give else one, *ways)
for name, options, size, *ways in TIMM:
    add("timm_" + name, "timm", of_timm(name, options), image(3, size), *ways)

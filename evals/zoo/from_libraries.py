"""Rows of transformers: names of configurations and what makes them small."""

from __future__ import annotations

import torch
from architectures import add, ids, image

LAYERS = {"hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 96}
SIZE = {**LAYERS, "num_attention_heads": 4, "intermediate_size": 64}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
KV = {**SIZE, **TOKENS, "num_key_value_heads": 2}
BARE_GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 96}
GPT = {**BARE_GPT, "bos_token_id": 1, "eos_token_id": 2}
BART = {**TOKENS, "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "vocab_size": 96,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64, "decoder_start_token_id": 1, "forced_eos_token_id": None}
CTRL = {**BARE_GPT, "dff": 64}
T5 = {"d_model": 32, "num_layers": 1, "num_heads": 4, "d_ff": 64, "d_kv": 8, "vocab_size": 96}
EXPERTS = {**KV, "num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2}
VIT = {**SIZE, "image_size": 32, "patch_size": 8}
SWIN = {"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "window_size": 4}
FOUR = {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 16, 32]}


def row(name, kind, options, give, *ways, **more):
    """Add the model that `AutoModel`, or the class `_model`, makes of a configuration."""

    def build():
        import transformers

        given = {k: v for k, v in options.items() if not k.startswith("_")}
        config = getattr(transformers, f"{kind}Config")(**given)
        if "_attention" in options:
            config._attn_implementation = options["_attention"]
        config.use_cache = False
        if "_model" in options:
            return getattr(transformers, options["_model"])(config)
        return transformers.AutoModel.from_config(config)

    add(name, "transformers", build, give, *ways, **more)


ENCODERS = (
    ("bert", "Bert", SIZE, "batch"),
    ("bert_fp16", "Bert", SIZE, "float16"),
    ("bert_int8", "Bert", SIZE, "int8"),
    ("roberta", "Roberta", {**SIZE, "pad_token_id": 1, "max_position_embeddings": 40}),
    ("electra", "Electra", {**SIZE, "embedding_size": 16}, "bfloat16"),
    ("albert", "Albert", {**SIZE, "embedding_size": 16}, "batch"),
    ("distilbert", "DistilBert", {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "vocab_size": 96}),
    ("mobilebert", "MobileBert", {**SIZE, "embedding_size": 32, "intra_bottleneck_size": 32}),
    ("deberta", "Deberta", SIZE),
    ("deberta_v2", "DebertaV2", {**SIZE, "relative_attention": True, "position_buckets": 8, "pos_att_type": ["p2c", "c2p"]}),
    ("mpnet", "MPNet", {**SIZE, "max_position_embeddings": 40}, "batch"),
    ("squeezebert", "SqueezeBert", {**SIZE, "embedding_size": 32}),
    ("roformer", "RoFormer", {**SIZE, "embedding_size": 32}, "bfloat16"),
    ("convbert", "ConvBert", {**SIZE, "embedding_size": 32}),
    ("fnet", "FNet", {**LAYERS, "intermediate_size": 64}),
    ("ibert", "IBert", {**SIZE, "max_position_embeddings": 40}),
    ("megatron_bert", "MegatronBert", SIZE, "float16"),
    ("modernbert", "ModernBert", {**SIZE, **TOKENS, "cls_token_id": 1, "sep_token_id": 2}),
    ("rembert", "RemBert", {**SIZE, "input_embedding_size": 16}),
    ("xlnet", "XLNet", {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64, "vocab_size": 96}),
    ("big_bird", "BigBird", {**SIZE, "attention_type": "original_full"}),
    ("ernie", "Ernie", SIZE, "max_autotune"),
    ("splinter", "Splinter", SIZE),
    ("clip_text", "CLIPText", {**SIZE, **TOKENS, "_model": "CLIPTextModel"}),
    ("xlm", "XLM", {"emb_dim": 32, "n_layers": 2, "n_heads": 4, "vocab_size": 96, "max_position_embeddings": 40, "pad_index": 0}, "batch"),
    ("esm", "Esm", {**SIZE, "pad_token_id": 1, "mask_token_id": 2, "max_position_embeddings": 40, "position_embedding_type": "rotary"}, "float16"),
    ("nystromformer", "Nystromformer", {**SIZE, "num_landmarks": 12, "segment_means_seq_len": 12}),
    ("t5_encoder", "T5", {**T5, "num_layers": 2, "_model": "T5EncoderModel"}, "batch"),
)
DECODERS = (
    ("gpt2", "GPT2", GPT, "batch"),
    ("gpt2_fp16", "GPT2", GPT, "float16"),
    ("gpt2_head", "GPT2", {**GPT, "_model": "GPT2LMHeadModel"}),
    ("gpt_neo", "GPTNeo", {"hidden_size": 32, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]], "vocab_size": 96, "intermediate_size": 64}),
    ("gptj", "GPTJ", {**GPT, "rotary_dim": 4}),
    ("gpt_neox", "GPTNeoX", SIZE, "bfloat16"),
    ("opt", "OPT", {**LAYERS, "word_embed_proj_dim": 32, "num_attention_heads": 4, "ffn_dim": 64}),
    ("bloom", "Bloom", {"hidden_size": 32, "n_layer": 2, "n_head": 4, "vocab_size": 96}, "batch"),
    ("llama", "Llama", KV, "batch"),
    ("llama_bf16", "Llama", KV, "bfloat16"),
    ("llama_int8", "Llama", KV, "int8"),
    ("llama_head", "Llama", {**KV, "_model": "LlamaForCausalLM"}, "max_autotune"),
    ("mistral", "Mistral", {**KV, "sliding_window": 8}),
    ("qwen2", "Qwen2", KV, "bfloat16"),
    ("qwen3", "Qwen3", {**KV, "head_dim": 8}, "float16"),
    ("gemma", "Gemma", {**KV, "head_dim": 8}),
    ("gemma2", "Gemma2", {**KV, "head_dim": 8}),
    ("phi", "Phi", KV),
    ("phi3", "Phi3", KV, "batch"),
    ("falcon", "Falcon", {**LAYERS, "num_attention_heads": 4}),
    ("stablelm", "StableLm", KV),
    ("starcoder2", "Starcoder2", KV),
    ("cohere", "Cohere", KV),
    ("olmo", "Olmo", KV),
    ("olmo2", "Olmo2", KV),
    ("mpt", "Mpt", {"d_model": 32, "n_heads": 4, "n_layers": 2, "vocab_size": 96}),
    ("biogpt", "BioGpt", SIZE),
    ("xglm", "XGLM", {"d_model": 32, "num_layers": 2, "attention_heads": 4, "ffn_dim": 64, "vocab_size": 96}),
    ("granite", "Granite", KV),
    ("mixtral", "Mixtral", EXPERTS),
    ("qwen2_moe", "Qwen2Moe", {**EXPERTS, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32}),
    ("olmoe", "Olmoe", EXPERTS),
    ("granite_moe", "GraniteMoe", EXPERTS),
    ("mamba", "Mamba", {**LAYERS, "state_size": 4}),
    ("falcon_mamba", "FalconMamba", {**LAYERS, "num_hidden_layers": 1, "state_size": 4}),
    ("mamba2", "Mamba2", {**LAYERS, "num_hidden_layers": 1, "state_size": 8, "num_heads": 8, "head_dim": 8, "n_groups": 2, "chunk_size": 4}),
    ("rwkv", "Rwkv", LAYERS),
    ("ctrl", "CTRL", CTRL),
    ("codegen", "CodeGen", {**GPT, "rotary_dim": 4, "n_ctx": 40, "n_positions": 40}, "bfloat16", "batch"),
    ("gpt_bigcode", "GPTBigCode", GPT, "float16"),
    ("gpt_oss", "GptOss", {**KV, "head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8}, "bfloat16"),
    ("recurrent_gemma", "RecurrentGemma", {**KV, "num_hidden_layers": 3, "lru_width": 32, "attention_window_size": 8, "head_dim": 8, "num_key_value_heads": 1}),
    ("jetmoe", "JetMoe", {**KV, "kv_channels": 8, "num_local_experts": 4, "num_experts_per_tok": 2}, "batch"),
    ("openai_gpt", "OpenAIGPT", BARE_GPT),
)
PAIRS = (
    ("t5", "T5", T5),
    ("mt5", "MT5", T5),
    ("bart", "Bart", BART),
    ("mbart", "MBart", BART),
    ("pegasus", "Pegasus", BART),
    ("marian", "Marian", BART),
    ("m2m_100", "M2M100", BART),
    ("blenderbot_small", "BlenderbotSmall", BART),
    ("prophetnet", "ProphetNet", {"hidden_size": 32, "encoder_ffn_dim": 64, "num_encoder_layers": 1, "num_encoder_attention_heads": 4, "decoder_ffn_dim": 64, "num_decoder_layers": 1, "num_decoder_attention_heads": 4, "vocab_size": 96, "max_position_embeddings": 40, "ngram": 2}),
)
IMAGES = (
    ("vit", "ViT", VIT, "batch"),
    ("vit_fp16", "ViT", VIT, "float16"),
    ("deit", "DeiT", VIT),
    ("beit", "Beit", VIT),
    ("dinov2", "Dinov2", VIT),
    ("swin", "Swin", SWIN),
    ("swinv2", "Swinv2", SWIN),
    ("convnext", "ConvNext", FOUR, "bfloat16", "channels_last"),
    ("convnextv2", "ConvNextV2", FOUR),
    ("resnet_hf", "ResNet", {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "layer_type": "basic"}, "channels_last"),
    ("regnet_hf", "RegNet", {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "groups_width": 8}),
    ("mobilenet_v1", "MobileNetV1", {"depth_multiplier": 0.25, "image_size": 32}),
    ("mobilenet_v2_hf", "MobileNetV2", {"depth_multiplier": 0.35, "image_size": 32}),
    ("mobilevit", "MobileViT", {"image_size": 32, "hidden_sizes": [16, 16, 16], "neck_hidden_sizes": [8, 8, 8, 8, 8, 8, 16], "num_attention_heads": 4}),
    ("segformer", "Segformer", {"num_encoder_blocks": 2, "depths": [1, 1], "hidden_sizes": [8, 16], "num_attention_heads": [1, 2], "sr_ratios": [4, 2], "patch_sizes": [7, 3], "strides": [4, 2], "mlp_ratios": [2, 2], "decoder_hidden_size": 16, "_model": "SegformerForSemanticSegmentation"}),
    ("poolformer", "PoolFormer", {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 8, 16, 16]}, "batch"),
    ("levit", "Levit", {"image_size": 64, "hidden_sizes": [16, 32, 48], "num_attention_heads": [2, 2, 2], "depths": [1, 1, 1], "key_dim": [8, 8, 8]}),
    ("focalnet", "FocalNet", {"image_size": 32, "embed_dim": 16, "depths": [1, 1], "hidden_sizes": [16, 32], "focal_levels": [2, 2], "focal_windows": [3, 3]}),
    ("pvt", "Pvt", {**FOUR, "image_size": 32, "num_attention_heads": [1, 2, 2, 4]}),
    ("bit", "Bit", {**FOUR, "embedding_size": 8, "num_groups": 4}),
    ("data2vec_vision", "Data2VecVision", VIT),
    ("yolos", "Yolos", {**SIZE, "image_size": [32, 32], "patch_size": 8, "num_detection_tokens": 5, "_model": "YolosForObjectDetection"}),
    ("dpt", "DPT", {**VIT, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [8, 8, 8, 8], "fusion_hidden_size": 8, "_model": "DPTForDepthEstimation"}),
    ("glpn", "GLPN", {"num_encoder_blocks": 4, "depths": [1, 1, 1, 1], "hidden_sizes": [8, 8, 16, 16], "num_attention_heads": [1, 1, 2, 2], "decoder_hidden_size": 8, "_model": "GLPNForDepthEstimation"}),
    ("swin2sr", "Swin2SR", {"image_size": 16, "embed_dim": 16, "depths": [1], "num_heads": [2], "window_size": 4, "_model": "Swin2SRForImageSuperResolution"}),
    ("swiftformer", "SwiftFormer", {"image_size": 64, "depths": [1, 1, 1, 1], "embed_dims": [8, 16, 16, 32]}, "channels_last"),
    ("dinov3_vit", "DINOv3ViT", {**VIT, "num_register_tokens": 2}, "bfloat16", "batch"),
    ("clip_vision", "CLIPVision", {**VIT, "_model": "CLIPVisionModel"}, "max_autotune"),
    ("siglip_vision", "SiglipVision", {**VIT, "_model": "SiglipVisionModel"}),
)
SMALL_WAVE = {**SIZE, "conv_dim": (16, 16), "conv_kernel": (8, 4), "conv_stride": (4, 4),
              "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8, "conv_bias": False,
              "num_conv_pos_embedding_groups": 4}
WAVES = (
    ("wav2vec2", "Wav2Vec2", SMALL_WAVE),
    ("hubert", "Hubert", SMALL_WAVE, "batch"),
    ("unispeech", "UniSpeech", SMALL_WAVE),
    ("wavlm", "WavLM", SMALL_WAVE),
    ("wav2vec2_conformer", "Wav2Vec2Conformer", {**SMALL_WAVE, "position_embeddings_type": "rotary", "conv_depthwise_kernel_size": 5}),
    ("data2vec_audio", "Data2VecAudio", {**SMALL_WAVE, "conv_pos_kernel_size": 7}),
)
PATCHES = {"context_length": 32, "patch_length": 8, "num_input_channels": 2, "d_model": 16}
TOKEN = {"input_ids": 96}
DECODED = {"decoder_input_ids": 96}


def decoded():
    return ids("decoder_input_ids", length=7)()


def normal(name, *shape):
    return lambda: {name: torch.randn(*shape)}


for name, kind, options, *ways in (*ENCODERS, *DECODERS):
    row(name, kind, options, ids(), *ways, bounds=TOKEN)
for name, kind, options in PAIRS:
    row(name, kind, options, lambda: {**ids()(), **decoded()}, bounds={**TOKEN, **DECODED})
for name, kind, options, *ways in IMAGES:
    size = options.get("image_size", 64)
    size = size[0] if isinstance(size, list) else size
    row(name, kind, options, image(3, size, "pixel_values"), *ways)
for name, kind, options, *ways in WAVES:
    row(name, kind, options, normal("input_values", 2, 400), *ways)
OPT = next(options for _, kind, options, *_ in DECODERS if kind == "OPT")
for kind, base, limit in (("GPT2", GPT, "n_positions"), ("OPT", OPT, "max_position_embeddings"), ("CTRL", CTRL, "n_positions")):
    row(f"{kind.lower()}_positions", kind, {**base, limit: 24, "_attention": "eager"}, ids(),
        bounds=TOKEN, dynamic={"input_ids": {1: "length"}}, positions="length")
row("whisper", "Whisper", {**BART, "num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 20},
    lambda: {"input_features": torch.randn(2, 8, 40), **decoded()}, bounds=DECODED)
row("audio_spectrogram", "AST", {**SIZE, "patch_size": 8, "max_length": 32, "num_mel_bins": 16}, normal("input_values", 2, 32, 16), "bfloat16")
row("patchtst", "PatchTST", {**PATCHES, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 32}, normal("past_values", 2, 32, 2))
row("patchtsmixer", "PatchTSMixer", {**PATCHES, "num_layers": 2}, normal("past_values", 2, 32, 2))
row("layoutlm", "LayoutLM", {**SIZE, "max_2d_position_embeddings": 64},
    lambda: {**ids()(), "bbox": torch.tensor([3, 5, 20, 30]).repeat(2, 12, 1)}, bounds=TOKEN)
row("clip", "CLIP", {"text_config": {**SIZE, **TOKENS}, "vision_config": VIT, "projection_dim": 16},
    lambda: {**ids()(), "pixel_values": torch.randn(2, 3, 32, 32)}, bounds=TOKEN)
for name, kind in (("videomae", "VideoMAE"), ("timesformer", "Timesformer")):
    row(name, kind, {**VIT, "image_size": 16, "num_frames": 4}, normal("pixel_values", 2, 4, 3, 16, 16))
# It hashes its characters: no id is out of bounds.
row("canine", "Canine", {**SIZE, "num_hash_buckets": 64, "num_hash_functions": 4, "local_transformer_stride": 4, "downsampling_rate": 4}, ids())
row("decision_transformer", "DecisionTransformer",
    {"state_dim": 5, "act_dim": 3, "hidden_size": 32, "max_ep_len": 50, "n_layer": 2, "n_head": 4, "n_inner": 64, "vocab_size": 1},
    lambda: {"states": torch.randn(2, 6, 5), "actions": torch.randn(2, 6, 3), "rewards": torch.randn(2, 6, 1),
             "returns_to_go": torch.randn(2, 6, 1), "timesteps": torch.arange(6).repeat(2, 1), "attention_mask": torch.ones(2, 6)},
    bounds={"timesteps": 50})
row("lxmert", "Lxmert", {**SIZE, "l_layers": 1, "x_layers": 1, "r_layers": 1, "visual_feat_dim": 16, "visual_pos_dim": 4},
    lambda: {**ids()(), "visual_feats": torch.randn(2, 5, 16), "visual_pos": torch.rand(2, 5, 4)}, "batch", bounds=TOKEN)

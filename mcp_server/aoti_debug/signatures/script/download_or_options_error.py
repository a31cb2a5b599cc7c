from aoti_debug.signatures.signature import Signature, fix, quoted, recorded

SIGNATURE = Signature(
    id="download_or_options_error",
    family="P",
    phase="none",
    category="user_code",
    weight=40,
    confidence="possible",
    anchors=(
        "huggingface_hub.",
        "safetensors_rust.SafetensorError",
        "_pickle.UnpicklingError",
        "the following arguments are required",
        "error: unrecognized arguments: ",
        "requests.exceptions.",
        "urllib.error.",
        "omegaconf.errors.",
        "hydra.errors.",
        "pydantic_core.",
    ),
    patterns=(
        (
            r"^(?P<what>(?:huggingface_hub\.(?:utils\._)?\S{0,40}errors?\S{0,40}"
            r"|safetensors_rust\.SafetensorError|_pickle\.UnpicklingError|requests\."
            r"exceptions\.\w{1,200}|urllib\.error\.\w{1,200}|(?:omegaconf|hydra)\.errors\.\w{1,200}"
            r"|pydantic_core\.\S{1,60}Error): .{1,120})"
        ),
        (
            r"(?P<what>error: (?:the following arguments are required|unrecognized arguments)"
            ": .{1,120})"
        ),
    ),
    summary="The script could not get its files or understand its options: {what}",
    means=(
        "A download, a checkpoint, a configuration file or the command line; no model was "
        "compiled or run yet."
    ),
    check="The last frame of the traceback that lies in your files",
    fixes=(fix("Correct the path, the version of the file, or the option that is named"),),
    guide="guides/debugging-tools.md#an-unknown-failure",
    matches=(
        recorded(
            "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded",
            "torch 2.13.0, CPU",
        ),
        quoted(
            "infer.py: error: the following arguments are required: --model",
            "form of argparse",
        ),
    ),
)

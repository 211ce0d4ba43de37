"""Which tokenizer class vLLM loads for a model, and the pipeline that class builds.

The engine's ids do not always come from tokenizer.json as it stands: some classes keep only its vocabulary,
merges and post-processor and build normalizer, pre-tokenizer and decoder themselves. Which class is loaded
depends on tokenizer_config.json and on the model type in config.json. The tables state what transformers 5.20
does; tests hold them against the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

GENERIC_CLASS: Final = "TokenizersBackend"
_GENERIC_NAMES: Final = frozenset(
    {GENERIC_CLASS, "PythonBackend", "PreTrainedTokenizer", "PreTrainedTokenizerFast"}
)

# Class that transformers registers for a model type. Only text generation matters here.
_REGISTERED: Final[dict[str, str]] = {
    model_type: class_name
    for class_name, model_types in {
        "Qwen2Tokenizer": "qwen2 qwen2_moe qwen2_vl qwen2_5_vl qwen2_5_omni qwen2_audio qwen3 qwen3_moe qwen3_next "
        "qwen3_vl qwen3_vl_moe qwen3_omni_moe internvl hunyuan_vl ovis2",
        "Qwen3_5Tokenizer": "qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen4_exp",
        "GemmaTokenizer": "gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text diffusion_gemma recurrent_gemma zaya",
        "GPT2Tokenizer": "gpt2 gpt_neo gptj codegen dbrx emu3 jais2 opt phi starcoder2",
        "CohereTokenizer": "cohere cohere2 aya_vision",
        "GPTNeoXTokenizer": "gpt_neox falcon_mamba mamba mamba2 mpt olmo olmoe rwkv xlstm",
        "MistralCommonBackend": "ministral ministral3 mistral mistral3 mixtral pixtral voxtral",
        GENERIC_CLASS: "aria beam flex_olmo glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe gpt_bigcode granite "
        "granitemoe granitemoehybrid granitemoeshared kimi_k25 kimi_linear mimo_v2_flash minicpmv4_6 minicpmv4_7 "
        "olmo2 olmo3 olmo_hybrid persimmon stablelm",
    }.items()
    for model_type in model_types.split()
}

# Model types whose published tokenizer_class is known to be wrong. Those registered with a class get that one,
# the others the generic one.
_WRONG_PUBLISHED_CLASS: Final = frozenset(
    "arctic chameleon chatlm deepseek_ocr deepseek_ocr2 deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 "
    "deepseek_vl deepseek_vl_hybrid deepseek_vl_v2 ernie4_5 ernie4_5_moe fuyu h2ovl_chat hyperclovax "
    "hyperclovax_vlm internlm2 jamba janus llava llava_next minicpm3 minicpmv minimax_m2 molmo molmo2 nemotron "
    "nvfp4 opencua openvla paddleocr_vl phi3 phi3_v phimoe qwen2 qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen4_exp "
    "smolvlm step3_vl step3p5 unlimited_ocr vipllava".split()
)

# Model types for which vLLM 0.33 itself takes the generic class.
_GENERIC_IN_VLLM: Final = frozenset(
    "internlm2 step3_vl step3p7 step5 step5_vl unlimited-ocr unlimited_ocr".split()
)

_CONTRACTIONS: Final = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_QWEN2_SPLIT: Final = (
    _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN3_5_SPLIT: Final = (
    _CONTRACTIONS
    + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_BYTE_LEVEL_DECODER: Final = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}


def tokenizer_class(tokenizer_config: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The class that vLLM would load, through transformers' AutoTokenizer mostly, without the suffix `Fast`."""
    model_type = config.get("model_type") or ""
    if model_type in _GENERIC_IN_VLLM:
        return GENERIC_CLASS
    published = tokenizer_config.get("tokenizer_class") or config.get("tokenizer_class")
    published = published.removesuffix("Fast") if isinstance(published, str) else None
    registered = _REGISTERED.get(model_type)
    if registered is None and model_type in _WRONG_PUBLISHED_CLASS:
        registered = GENERIC_CLASS
    if published is None:
        chosen = registered or GENERIC_CLASS
    elif registered is None or registered == published:
        chosen = published
    elif registered in (GENERIC_CLASS, "MistralCommonBackend"):
        chosen = GENERIC_CLASS
    else:
        chosen = registered if model_type in _WRONG_PUBLISHED_CLASS else published
    return GENERIC_CLASS if chosen in _GENERIC_NAMES or chosen == "MistralCommonBackend" else chosen


def rebuild_pipeline(document: dict[str, Any], class_name: str, tokenizer_config: Mapping[str, Any]) -> bool:
    """Replace the pipeline of a tokenizer.json document by the one its class builds.

    The document keeps its vocabulary, merges, added tokens and post-processor. Returns whether it was changed;
    the generic class, and classes that read tokenizer.json as it stands, change nothing.
    """
    build = _PIPELINES.get(class_name)
    if build is None or document.get("model", {}).get("type") != "BPE":
        return False
    build(document, bool(tokenizer_config.get("add_prefix_space")), tokenizer_config)
    return True


def _set_model(document: dict[str, Any], **flags: Any) -> None:
    model = document["model"]
    document["model"] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        **flags,
        "vocab": model["vocab"],
        "merges": model["merges"],
    }


def _byte_level(add_prefix_space: bool, use_regex: bool) -> dict[str, Any]:
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def _build_llama(document: dict[str, Any], _: bool, tokenizer_config: Mapping[str, Any]) -> None:
    prefix = tokenizer_config.get("add_prefix_space") is not False
    # `legacy` decides between a prefix before every section and only before the first one
    scheme = ("always" if tokenizer_config.get("legacy", False) else "first") if prefix else "never"
    _set_model(document, fuse_unk=True, byte_fallback=True)
    document["normalizer"] = None
    document["pre_tokenizer"] = {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": scheme,
        "split": False,
    }
    decoders: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if prefix:
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    document["decoder"] = {"type": "Sequence", "decoders": decoders}


def _build_gpt2(document: dict[str, Any], add_prefix_space: bool, _: Mapping[str, Any]) -> None:
    _set_model(document, continuing_subword_prefix="", end_of_word_suffix="")
    document["normalizer"] = None
    document["pre_tokenizer"] = _byte_level(add_prefix_space, use_regex=True)
    document["decoder"] = _BYTE_LEVEL_DECODER


def _build_gpt_neox(document: dict[str, Any], add_prefix_space: bool, _: Mapping[str, Any]) -> None:
    _set_model(document, continuing_subword_prefix="", end_of_word_suffix="")
    document["normalizer"] = {"type": "NFC"}
    document["pre_tokenizer"] = _byte_level(add_prefix_space, use_regex=True)
    document["decoder"] = _BYTE_LEVEL_DECODER
    document["post_processor"] = None


def _build_qwen(document: dict[str, Any], add_prefix_space: bool, split: str) -> None:
    _set_model(document, continuing_subword_prefix="", end_of_word_suffix="")
    document["normalizer"] = {"type": "NFC"}
    document["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": split}, "behavior": "Isolated", "invert": False},
            _byte_level(add_prefix_space, use_regex=False),
        ],
    }
    document["decoder"] = _BYTE_LEVEL_DECODER


def _build_qwen2(document: dict[str, Any], add_prefix_space: bool, _: Mapping[str, Any]) -> None:
    _build_qwen(document, add_prefix_space, _QWEN2_SPLIT)


def _build_qwen3_5(document: dict[str, Any], add_prefix_space: bool, _: Mapping[str, Any]) -> None:
    _build_qwen(document, add_prefix_space, _QWEN3_5_SPLIT)


def _build_gemma(document: dict[str, Any], _: bool, tokenizer_config: Mapping[str, Any]) -> None:
    unknown = tokenizer_config.get("unk_token", "<unk>")
    unknown = unknown.get("content") if isinstance(unknown, Mapping) else unknown
    _set_model(document, unk_token=unknown, fuse_unk=True, byte_fallback=True)
    document["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    document["pre_tokenizer"] = {
        "type": "Split",
        "pattern": {"String": " "},
        "behavior": "MergedWithPrevious",
        "invert": False,
    }
    document["decoder"] = {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
        ],
    }


def _build_cohere(document: dict[str, Any], add_prefix_space: bool, _: Mapping[str, Any]) -> None:
    _set_model(document, continuing_subword_prefix="", end_of_word_suffix="")
    document["normalizer"] = {"type": "NFC"}
    document["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Digits", "individual_digits": True},
            _byte_level(add_prefix_space, use_regex=True),
        ],
    }
    document["decoder"] = _byte_level(add_prefix_space, use_regex=True)


_PIPELINES: Final = {
    "LlamaTokenizer": _build_llama,
    "GPT2Tokenizer": _build_gpt2,
    "GPTNeoXTokenizer": _build_gpt_neox,
    "Qwen2Tokenizer": _build_qwen2,
    "Qwen3_5Tokenizer": _build_qwen3_5,
    "GemmaTokenizer": _build_gemma,
    "CohereTokenizer": _build_cohere,
}

"""Writes expected.json: what transformers computes for tiny checkpoints whose weights follow a rule, and gradients.

    pip install torch transformers tokenizers
    python3 make.py

The rule is `weight()` of rule.py; tests/support/reference.rs has the same one, so that no weights are committed.
"""

import json
import pathlib

import rule
import tokenizers
import torch
import transformers
from rule import BERT_TOKENIZER, TEXTS, text, token, tokenizer

QUERY = "merge the two slow tables"
BEFORE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
AFTER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
INSTRUCTION = "fill in the query of the form"
QUERY_PREFIX = "Instruct: merge the query\nQuery:"
MAX_TOKENS = 16
# Of the losses whose gradients are recorded: the text that is right for the query, and what divides cosines.
RIGHT = 4
TEMPERATURE = 0.05


def weight(name, shape):
    return torch.from_numpy(rule.weight(name, shape))


ROBERTA_TOKENIZER = tokenizer(
    ["<s>", "<pad>", "</s>", "<unk>"], "<pad>", "<unk>",
    [token("<s>"), text("A"), token("</s>")],
    [token("<s>"), text("A"), token("</s>"), token("</s>"), text("B"), token("</s>")],
)
QWEN_TOKENIZER = tokenizer(
    ["<|endoftext|>", "<unk>", "<|im_start|>", "<|im_end|>"], "<|endoftext|>", "<unk>",
    [text("A"), token("<|endoftext|>")],
    [text("A"), text("B"), token("<|endoftext|>")],
)

COMMON = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 18,
}
BERT = COMMON | {"model_type": "bert", "max_position_embeddings": 64, "type_vocab_size": 2, "pad_token_id": 0}
ROBERTA = COMMON | {
    "model_type": "xlm-roberta", "max_position_embeddings": 64, "type_vocab_size": 1, "pad_token_id": 1,
    "layer_norm_eps": 1e-5,
}
QWEN = COMMON | {
    "model_type": "qwen3", "max_position_embeddings": 256, "num_key_value_heads": 2, "head_dim": 16,
    "rope_theta": 1000000.0, "tie_word_embeddings": True, "pad_token_id": 0,
}


def build(architecture, settings):
    """A network of transformers with the weights of the rule."""
    settings = dict(settings)
    if "rope_theta" in settings:
        settings["rope_parameters"] = {"rope_type": "default", "rope_theta": settings.pop("rope_theta")}
    if "id2label" in settings:
        settings["num_labels"] = len(settings.pop("id2label"))
    config = transformers.AutoConfig.for_model(**settings)
    config._attn_implementation = "eager"
    network = getattr(transformers, architecture)(config).eval()
    tensors = {}
    tied = "lm_head.weight" if settings.get("tie_word_embeddings") else None
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if name != tied and "position_ids" not in name:
                tensor.copy_(weight(name, tensor.shape))
                tensors[name] = list(tensor.shape)
    return network, tensors


def encode(form, limit, *texts, **options):
    """Tokens as the tokenizer of a file gives them, cut at a limit and not filled up."""
    reader = tokenizers.Tokenizer.from_str(json.dumps(form))
    reader.no_padding()
    reader.enable_truncation(limit) if limit else reader.no_truncation()
    reader.encode_special_tokens = options.pop("plain", True)
    found = reader.encode(*texts, **options)
    return found.ids, found.type_ids


def vector(network, form, pool, one):
    ids, _ = encode(form, MAX_TOKENS, one)
    states = network(input_ids=torch.tensor([ids])).last_hidden_state[0]
    row = {"mean": states.mean(0), "cls": states[0], "lasttoken": states[-1]}[pool]
    return row / row.norm()


def vectors(network, form, pool, prefix):
    return torch.stack([vector(network, form, pool, prefix + one) for one in TEXTS])


def classes(network, form, is_roberta):
    scores = []
    for one in TEXTS:
        ids, kinds = encode(form, MAX_TOKENS, QUERY, one)
        kinds = {} if is_roberta else {"token_type_ids": torch.tensor([kinds])}
        logits = network(input_ids=torch.tensor([ids]), **kinds).logits[0]
        scores.append(logits[1] - logits[0] if len(logits) == 2 else logits[0])
    return torch.stack(scores)


def answers(network, form, limit):
    names = {t: i for t, i in form["model"]["vocab"].items()}
    before, after = (encode(form, None, t, add_special_tokens=False, plain=False)[0] for t in (BEFORE, AFTER))
    scores = []
    for one in TEXTS:
        pair = f"<Instruct>: {INSTRUCTION}\n\n<Query>: {QUERY}\n\n<Document>: {one}"
        ids, _ = encode(form, limit - len(before) - len(after), pair, add_special_tokens=False)
        ids = before + ids + after
        logits = network(input_ids=torch.tensor([ids])).logits[0, -1]
        scores.append(logits[names["yes"]] - logits[names["no"]])
    return torch.stack(scores)


def encoder_loss(network, form, pool, prefix):
    """InfoNCE of two queries among all texts."""
    queries = torch.stack([vector(network, form, pool, prefix + one) for one in (QUERY, TEXTS[3])])
    cosines = queries @ vectors(network, form, pool, "").T
    return torch.nn.functional.cross_entropy(cosines / TEMPERATURE, torch.tensor([RIGHT, 0]))


def reranker_loss(scores):
    """Cross-entropy of one right text among all."""
    return torch.nn.functional.cross_entropy(scores[None], torch.tensor([RIGHT]))


def gradients(network, tensors, loss):
    """Of each tensor that the loss follows from: the norm, a product with numbers of the rule, the first three numbers."""
    network.double()
    for module in network.modules():
        # Else torch would not train the token that fills up, which Qwen3 also ends each text with.
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    loss(network).backward()
    found = {}
    for name, parameter in network.named_parameters():
        if parameter.grad is not None:
            probe = weight("probe " + name, parameter.shape).double()
            gradient = parameter.grad
            found[name] = [gradient.norm().item(), (gradient * probe).sum().item(), *gradient.flatten()[:3].tolist()]
    assert set(found) <= set(tensors)
    return found


def rounded(value):
    return [rounded(part) for part in value] if isinstance(value, list) else round(value, 6)


def case(name, architecture, settings, form, files, compute, loss):
    network, tensors = build(architecture, settings)
    with torch.no_grad():
        expected = rounded(compute(network).tolist())
    slopes = {tensor: rounded(numbers) for tensor, numbers in gradients(network, tensors, loss).items()}
    config = settings | {"architectures": [architecture]}
    return {
        "name": name, "config": config, "tokenizer": settings["model_type"], "files": files, "tensors": tensors, "expected": expected,
        "gradients": slopes,
    }


def pooled(mode):
    module = "sentence_transformers.models."
    return {
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": module + "Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": module + "Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": module + "Normalize"},
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": 32, "pooling_mode_cls_token": mode == "cls",
            "pooling_mode_mean_tokens": mode == "mean", "pooling_mode_max_tokens": False,
            "pooling_mode_lasttoken": mode == "lasttoken",
        },
        "sentence_bert_config.json": {"max_seq_length": MAX_TOKENS},
    }


SHORT = {"tokenizer_config.json": {"model_max_length": MAX_TOKENS}}
PROMPTS = {"config_sentence_transformers.json": {"prompts": {"query": QUERY_PREFIX, "document": ""}}}
RERANKER_TOKENS = 80
RERANKER = {"skillmux.json": {"instruction": INSTRUCTION, "max_tokens": RERANKER_TOKENS}}

CASES = [
    case("bert encoder, mean", "BertModel", BERT, BERT_TOKENIZER, pooled("mean"),
         lambda n: vectors(n, BERT_TOKENIZER, "mean", ""), lambda n: encoder_loss(n, BERT_TOKENIZER, "mean", "")),
    case("xlm-roberta encoder, first token", "XLMRobertaModel", ROBERTA, ROBERTA_TOKENIZER, pooled("cls"),
         lambda n: vectors(n, ROBERTA_TOKENIZER, "cls", ""), lambda n: encoder_loss(n, ROBERTA_TOKENIZER, "cls", "")),
    case("qwen3 encoder, last token", "Qwen3Model", QWEN, QWEN_TOKENIZER, pooled("lasttoken") | PROMPTS,
         lambda n: vectors(n, QWEN_TOKENIZER, "lasttoken", QUERY_PREFIX),
         lambda n: encoder_loss(n, QWEN_TOKENIZER, "lasttoken", QUERY_PREFIX)),
    case("bert reranker, two labels", "BertForSequenceClassification", BERT | {"id2label": {"0": "no", "1": "yes"}},
         BERT_TOKENIZER, SHORT, lambda n: classes(n, BERT_TOKENIZER, False),
         lambda n: reranker_loss(classes(n, BERT_TOKENIZER, False))),
    case("xlm-roberta reranker, one label", "XLMRobertaForSequenceClassification", ROBERTA | {"id2label": {"0": "x"}},
         ROBERTA_TOKENIZER, SHORT, lambda n: classes(n, ROBERTA_TOKENIZER, True),
         lambda n: reranker_loss(classes(n, ROBERTA_TOKENIZER, True))),
    case("qwen3 reranker, yes or no", "Qwen3ForCausalLM", QWEN, QWEN_TOKENIZER, RERANKER,
         lambda n: answers(n, QWEN_TOKENIZER, RERANKER_TOKENS),
         lambda n: reranker_loss(answers(n, QWEN_TOKENIZER, RERANKER_TOKENS))),
]
path = pathlib.Path(__file__).with_name("expected.json")
document = {
    "made_with": f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}",
    "query": QUERY, "texts": TEXTS,
    "tokenizers": {"bert": BERT_TOKENIZER, "xlm-roberta": ROBERTA_TOKENIZER, "qwen3": QWEN_TOKENIZER},
    "cases": CASES,
}
lines = json.dumps(document, separators=(",", ":"))
for key in ['{"name":', '"expected":', '"gradients":', '"tokenizers":']:
    lines = lines.replace(key, "\n" + key)
path.write_text(lines + "\n")
print(path, path.stat().st_size, "bytes")

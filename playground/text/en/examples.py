"""Titles of the recorded examples."""

TEXT = {
    "example.is-openai-open.title": "Is OpenAI open?",
    "example.strawberry.title": "How many r are in strawberry?",
    "example.apple-zh.title": "The colour of apples (in Chinese)",
    "example.mixed-zh.title": "Two scripts in one line",
    "example.family-emoji.title": "A family of emoji",
}

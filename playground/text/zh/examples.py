"""自带例子的标题。"""

TEXT = {
    "example.is-openai-open.title": "OpenAI 开放吗？（英文）",
    "example.strawberry.title": "strawberry 里有几个 r？（英文）",
    "example.apple-zh.title": "苹果最常见的颜色是什么？",
    "example.mixed-zh.title": "程序员Left 人工智能：一行两种文字",
    "example.family-emoji.title": "一家人的表情符号",
}

"""分词器实验室的错误说明。"""

TEXT = {
    "error.cutting_kind": "这个分词器的模型属于 {kind} 类型，这里不知道它如何切分。",
    "error.cutting_long": "这个词有 {n} 个符号；逐步讲解合并最多 {limit} 个。请选一个短一些的词。",
    "error.tiktoken_missing": "编码 {name} 属于 tiktoken 包，这里没有安装。安装命令：pip install tiktoken",
    "error.tiktoken_unknown": "tiktoken 没有名为 {name} 的编码。可用的有：{known}。",
    "error.tiktoken_file": "tiktoken 拿不到 {name} 的文件：它要从发布者那里下载一次，而这里连不上。",
    "error.corpus_empty": "没有可学习的文本，请粘贴一些。",
    "error.corpus_long": "这段文本有 {n} 个字符；这里最多用 {limit} 个字符来训练。",
    "error.corpus_merges": "合并次数是 0 到 {limit} 之间的整数。",
}

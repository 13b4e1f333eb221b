"""分词器实验室的错误说明。"""

TEXT = {
    "error.cutting_kind": "这个分词器的模型属于 {kind} 类型，这里不知道它如何切分。",
    "error.cutting_long": "这个词有 {n} 个符号；逐步讲解合并最多 {limit} 个。请选一个短一些的词。",
}

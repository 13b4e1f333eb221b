"""自己训练：从一段语料里一步一步学出词表。"""

TEXT = {
    "panel.training.tab": "自己训练",
    "panel.training.title": "自己训练一个词表",
    "panel.training.why": "词表不是人写的，是数出来的：最常挨在一起的两块合成一块，一遍又一遍。"
    "贴一段文字让它学，看词怎样从字节里长出来，每多一块要付出什么、省下什么。",
    "panel.training.how": "用 tokenizers 库自带的字节级 BPE 训练器：256 个符号起步，按 GPT-2 的正则切词，"
    "合并不跨词；每一轮合并出现最多的一对，至少要出现两次。页面上的切块由浏览器按学到的合并做出。"
    "嵌入表 = 行数 × 模型宽度 × 每个数的字节数（LM head 不共享权重的模型要算两份）；"
    "注意力在每一层的每个头里比较 T(T+1)/2 对。",
    "panel.training.corpus": "用来学习的文字",
    "panel.training.most": "最多合并次数",
    "panel.training.learn": "开始学习",
    "panel.training.sample": "示例文字",
    "panel.training.sample_text": "人工智能正在学习语言。语言模型学习的不是语言本身，而是语言里什么常常和什么在一起。\n"
    "分词器也是这样学习的：先把文字变成字节，再把最常在一起的两个合成一个。“人”和“工”常常在一起，"
    "“智”和“能”常常在一起，于是“人工智能”慢慢成为一个整体。常见的词会成为一个 token，少见的词仍然是几个 token。\n"
    "分词器不知道词的意思，它只知道什么常见。用中文学习的分词器，切中文很省；用英文学习的分词器，"
    "切中文就很费：一个汉字要用三个字节，常常要用两三个 token。\n"
    "大模型的分词器也是这样学习的，只是学习的文字更多，合并的次数也更多：十万次，甚至更多。",
    "panel.training.play": "▶ 播放",
    "panel.training.pause": "❚❚ 暂停",
    "panel.training.slider": "词表大小：学到的合并次数",
    "panel.training.size": "词表 {first} + {k} = {n}",
    "panel.training.story": "第 {k} 次合并：“{left}”和“{right}”挨在一起出现了 {count} 次，合成“{piece}”。"
    "整段文字从 {before} 个 token 变成 {after} 个。",
    "panel.training.story_start": "还没有合并时，每个字节就是一个 token：共 {n} 个。",
    "panel.training.story_none": "没有可以合并的：这段文字里没有哪一对出现过两次。共 {n} 个 token。",
    "panel.training.pieces": "切成块的文字",
    "panel.training.merges": "学到的合并，按先后排列",
    "panel.training.more_none": "全文都在图中：{n} 个字符，{words} 个词，{bytes} 个字节；学到 {learnt} 次合并。"
    "带框的是这一次合并出的块；灰色的是单个字节；同一块不论在哪里颜色都相同。",
    "panel.training.more": "图中只有开头，计数是全文的：{n} 个字符，{words} 个词，{bytes} 个字节；"
    "学到 {learnt} 次合并。带框的是这一次合并出的块；灰色的是单个字节；同一块不论在哪里颜色都相同。",
    "panel.training.differs": "这段文字在浏览器里切出来的块和服务器数的不一样，所以不画出来；数字以服务器为准。",
    "panel.training.endless": "这段文字里有一个词超过 1,000 个字符没有断开，所以不把文字画成块；数字照常。",
    "panel.training.width": "模型宽度",
    "panel.training.bytes": "每个数占",
    "panel.training.bytes.4": "4 字节（fp32）",
    "panel.training.bytes.2": "2 字节（bf16）",
    "panel.training.bytes.1": "1 字节（int8）",
    "panel.training.tokens": "{n} 个 token",
    "panel.training.curve.tokens": "序列长度",
    "panel.training.curve.pairs": "注意力要比较的对数 T(T+1)/2",
    "panel.training.curve.table": "嵌入表",
    "panel.training.curve.from": "词表 {n}",
    "panel.training.curve.change": "是开始时的 {x} 倍",
    "panel.training.curve.label": "{what}：{value}，词表大小 {n}",
    "panel.training.weights": "{rows} 行 × {width} 个数 = {weights} 个权重，{size}。",
    "panel.training.table": "两边的代价列成表格",
    "panel.training.table.size": "词表",
    "panel.training.table.tokens": "token 数",
    "panel.training.table.bytes": "每 token 字节数",
    "panel.training.table.pairs": "对数 T(T+1)/2",
    "panel.training.table.weights": "嵌入权重",
    "panel.training.table.table": "嵌入表",
    "panel.training.col.k": "次序",
    "panel.training.col.pair": "合并的一对",
    "panel.training.col.piece": "合成",
    "panel.training.col.count": "次数",
    "panel.training.col.tokens": "token",
}

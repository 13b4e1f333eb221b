"""同一段文字，比较不同的词表。"""

TEXT = {
    "panel.vocabs.tab": "比较词表",
    "panel.vocabs.title": "比较词表",
    "panel.vocabs.why": "每个模型家族的词表都是从不同的语料里学来的，大小也各不相同。所以同一句话会有不同的切法，"
    "有长有短，价钱有高有低，而这时模型还什么都没有算。",
    "panel.vocabs.how": "每个分词器各自编码这段文字，不套模板，不加特殊 token；切出的块按字节对齐到文字的 UTF-8 上。"
    "一块结束、同时一个字符也结束的地方才算一处切口；“全都切开”是所选词表切口的交集。每个 token 的字节数 = "
    "文字的 UTF-8 字节数 ÷ token 数。",
    "panel.vocabs.other": "其他名称",
    "panel.vocabs.add": "添加",
    "panel.vocabs.remove": "不再比较 {name}",
    "panel.vocabs.full": "一次最多比较 {n} 个词表，请先去掉一个。",
    "panel.vocabs.reading": "正在读入词表……",
    "panel.vocabs.picture": "同一段文字在各词表里的切法，按字符对齐",
    "panel.vocabs.characters": "字符",
    "panel.vocabs.agree": "切法相同？",
    "panel.vocabs.tokens": "{n} 个 token",
    "panel.vocabs.axis": "横向是文字本身，宽度按字节数。把指针放到一块上，或用方向键移动，就能看到其他词表怎样切同样的字符。"
    "虚线框：分词器切分之前先改写了的字符。斜线：词表里没有的字节。",
    "panel.vocabs.sum": "所有词表都切开的地方有 {n} 处；其间的 {k} 段里有 {m} 段切法不同。",
    "panel.vocabs.one": "现在只有一个词表。在上面再选一个，就能看出差别。",
    "panel.vocabs.next": "下一处差别",
    "panel.vocabs.cut.all": "全都在这里切开",
    "panel.vocabs.cut.some": "只有一部分在这里切开",
    "panel.vocabs.cut.inside": "切在一个字符内部",
    "panel.vocabs.col.name": "词表",
    "panel.vocabs.col.tokens": "这段文字的 token 数",
    "panel.vocabs.col.per": "每个 token 的字节数",
    "panel.vocabs.col.chars": "每个 token 的码位数",
    "panel.vocabs.col.size": "词表大小",
    "panel.vocabs.col.lost": "丢失的字节",
    "panel.vocabs.table": "逐段列成表格",
    "panel.vocabs.col.at": "码位",
    "panel.vocabs.col.text": "文字",
    "panel.vocabs.col.same": "切法",
    "panel.vocabs.col.cuts": "在各词表里的块与 id",
    "panel.vocabs.same": "相同",
    "panel.vocabs.differs": "不同",
}

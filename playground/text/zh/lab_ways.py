"""一段文字的四种切法：词、字符、子词、字节。"""

TEXT = {
    "panel.ways.tab": "四种切法",
    "panel.ways.title": "四种切法",
    "panel.ways.why": "模型只认数字，所以文字要先切成小块，每一块都得在一张表里查得到。块切得大，序列就短，"
    "表却没有尽头；块切得小，表就短，序列却很长。分词器取的是中间的路，这里把四种切法上下对齐。",
    "panel.ways.how": "词：汉字部分用 jieba（词典加隐马尔可夫模型），其余按 Unicode 的词边界（UAX #29），"
    "空白和标点各自成块；字符：扩展字素簇（UAX #29）；子词：分词器给出的 id；字节：UTF-8。图中每个字节占一列。",
    "panel.ways.picture": "同一段文字切成词、字符、子词、字节，按字节对齐",
    "panel.ways.axis": "横向是文字本身，按存储顺序，每个字节一列；一种颜色就是一块。把指针放上去，或用方向键移动，"
    "就能看到同一段在各行里的样子。字符右上角的小数字：它由几个码位组成。",
    "panel.ways.loose": "虚线框：分词器在切分之前先改写了这些字符，所以内部从哪里切开无法对应。",
    "panel.ways.lost": "斜线：词表里没有这些字节，模型看不到它们。",
    "panel.ways.lines": "第 {from}–{to} 行，共 {total} 行，往下滚动可以看到其余的。",
    "panel.ways.leftward": "从右往左读的文字，这里按存储顺序排列：第一个字母在最左边。",
    "panel.ways.row.words": "词",
    "panel.ways.row.characters": "字符",
    "panel.ways.row.subwords": "子词",
    "panel.ways.row.bytes": "字节",
    "panel.ways.cost.way": "切成",
    "panel.ways.cost.count": "这段文字有几块",
    "panel.ways.cost.entries": "表里要有几项",
    "panel.ways.cost.means": "代价是什么",
    "panel.ways.entries.words": "没有尽头",
    "panel.ways.entries.characters": "15 万以上",
    "panel.ways.entries.bytes": "256",
    "panel.ways.means.words": "每一块的信息量都很大，但这张表永远列不完：新名字、新数字、错别字总是不在表里。"
    "中文不写空格，还得先靠词典把词找出来。",
    "panel.ways.means.characters": "再没有拼不出来的词，但表还是很长：Unicode 约有 15.5 万个字符，emoji 还能无限组合。"
    "每一块能说的却很少。",
    "panel.ways.means.subwords": "现在的模型都用它：常见的一段是一块，少见的拆成几块。表有多长，由设计者决定。",
    "panel.ways.means.bytes": "256 项就能写出世上所有的文字。但没有比它更长的序列：英文字母一个字节，"
    "多数汉字三个，多数 emoji 四个。",
    "panel.ways.longer": "这段文字按字节切，长度是按子词切的 {x} 倍。每一块都要多算一个位置，"
    "而注意力要把每一块和它之前的所有块比较一遍：要比较的对数是 {y} 倍。",
    "panel.ways.character": "这里的“字符”是读者眼中的一个字（字素簇），不是一个码位。下面两个都由好几个码位组成：",
    "panel.ways.made_of": "1 个字符，{k} 个码位，{bytes} 个字节",
    "panel.ways.joined": "这段文字里有 {n} 个字符由多个码位组成：一共 {points} 个码位，{characters} 个字符。",
    "panel.ways.joined.one": "这段文字里有 1 个字符由多个码位组成：一共 {points} 个码位，{characters} 个字符。",
    "panel.ways.table": "四个数目的表格",
    "panel.ways.rows": "逐个字符的表格",
    "panel.ways.col.way": "切成",
    "panel.ways.col.count": "块数",
    "panel.ways.col.distinct": "不同的块",
    "panel.ways.col.bytes": "每块字节数",
    "panel.ways.col.factor": "是子词的几倍",
    "panel.ways.col.pairs": "注意力的对数 n(n+1)/2",
    "panel.ways.col.entries": "表里的项数",
    "panel.ways.col.at": "位置",
    "panel.ways.col.character": "字符",
    "panel.ways.col.points": "码位",
    "panel.ways.col.hex": "字节（十六进制）",
    "panel.ways.col.word": "所在的词",
    "panel.ways.col.pieces": "所在的子词与 id",
}

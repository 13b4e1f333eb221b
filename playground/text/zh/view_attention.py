"""注意力面板：谁在读谁，权重多少。"""

TEXT = {
    "panel.attention.tab": "注意力",
    "panel.attention.title": "注意力：读了前面哪些 token",
    "panel.attention.why": "要选出下一个 token，最后一个位置得从前面的 token 那里取来所需的信息。"
    "每一层的每个注意力头各自行事：把 100% 的权重分给它看得见的位置，再按权重把这些位置的内容混合起来取走。"
    "这里就是权重的去向。",
    "panel.attention.how": "分数 = 查询 · 键 × 缩放系数，模型若限制分数则照样限制；后面的位置和滑动窗口之外的位置为 −∞ · "
    "权重 = 对一行做 softmax · 头的输出 = Σ 权重 × 值。由整段文本一次前向中的查询、键、值以 float32 重新算出。",
    "panel.attention.position": "提问的位置",
    "panel.attention.follow": "跟随作答的位置",
    "panel.attention.retry": "再试一次",
    "panel.attention.pending": "正在计算这个头读了什么……",
    "panel.attention.unseen": "看不到这个模型的注意力权重。",
    "panel.attention.counting": "层、头、位置都从 0 数起，与模型代码一致；播放器的步从 1 数起。",
    # 所有头
    "panel.attention.all.title": "这一步的所有头",
    "panel.attention.all.label": "所有头：横向是层，纵向是头。方向键移动，回车选定",
    "panel.attention.all.axes": "层 → · 头 ↓ · 点一格，在下面细看",
    "panel.attention.all.read": "第 {layer} 层第 {head} 头：首个 token 占 {sink} · 熵 {entropy} 比特 · "
    "最强的是位置 {key}“{token}”，占 {weight}",
    "panel.attention.all.table": "以表格列出这一步的所有头",
    "panel.attention.shade": "颜色深浅表示",
    "panel.attention.shade.sink": "首个 token",
    "panel.attention.shade.entropy": "分散程度",
    "panel.attention.shade.peak": "最强的 token",
    "panel.attention.shade.sink.hint": "深：这个头把权重搁在首个 token 上，那里是各个头歇脚的地方。浅：它在这里读的是别的。",
    "panel.attention.shade.entropy.hint": "这个头的权重的熵。浅：几乎全给了一个 token。深：分散在许多 token 上；"
    "{n} 个位置一样多时为 {bits} 比特。",
    "panel.attention.shade.peak.hint": "单个 token 得到的最大权重。深：几乎全给了一个。把指针移到格子上，看是哪一个。",
    "panel.attention.bits": "{n} 比特",
    # 读了什么
    "panel.attention.read.title": "写这个 token 时读了什么？",
    "panel.attention.read.say": "第 {step} 步写出“{token}”。写它的是位置 {position}（“{reader}”），它看得见 {n} 个位置。"
    "第 {layer} 层第 {head} 头是这样读的：",
    "panel.attention.read.before": "第 {step} 步之前：“{token}”将由位置 {position}（“{reader}”）写出，它看得见 {n} 个位置。"
    "第 {layer} 层第 {head} 头是这样读的：",
    "panel.attention.prompt": "提示词",
    "panel.attention.answer": "已写出的答案",
    "panel.attention.scale.all": "最深、最长为 {most}，即此处最大的权重。",
    "panel.attention.scale.aside": "最深、最长为 {most}，即除首个 token 外最大的权重；首个 token 超出标尺。"
    "变的只是深浅，每个数字都照旧。",
    "panel.attention.aside": "标尺不计首个 token，好看清其余的",
    "panel.attention.sink": "{first}{value}",
    "panel.attention.sink.rest": "歇脚处：首个 token“{token}”得到 {p}。softmax 总得把 100% 分出去，"
    "在这里没有要找的东西时，头就把权重搁在那里。",
    "panel.attention.sink.other": "首个 token“{token}”是各个头常歇脚的地方，在这里得到 {p}；"
    "得到最多的是位置 {key}“{peak}”：{most}。",
    "panel.attention.sink.value": "取走的是“权重 × 值”：首个 token 的值向量长 {norm}，其余位置的中位数是 {median}。",
    "panel.attention.sink.outside": "首个 token“{token}”在这一层 {window} 个位置的窗口之外。",
    "panel.attention.sink.alone": "只有“{token}”这一个位置可读，它得到全部权重。",
    "panel.attention.reasons": "权重不等于理由。它只说明这一个头从哪里取了多少，并不说明为什么选了这个 token："
    "{layers} 层中每层的 {heads} 个头，连同各层 FFN，都往同一条残差流里写；"
    "而一个位置被读到时，里面也早已不只是它自己的 token。",
    # 图
    "panel.attention.map.title": "这个头在每个位置上",
    "panel.attention.map.label": "这个头的权重：纵向是提问的位置，横向是被读的位置。方向键移动，回车选定一行",
    "panel.attention.map.axes": "被读的位置（键）→ · 提问的位置（查询）↓",
    "panel.attention.map.causal": "斜线：看不见，因为在后面（因果掩码）",
    "panel.attention.map.window": "斜线：看不见，因为在后面，或在 {window} 个位置的窗口之外",
    "panel.attention.map.hint": "▸ 是这一步作答的位置。加框的一行以数字列出；点另一行即可看它的数字。",
    "panel.attention.map.read": "位置 {q}“{asks}”读位置 {k}“{read}”：权重 {w}，分数 {score}",
    "panel.attention.map.later": "位置 {q}“{asks}”看不见位置 {k}“{read}”：它在后面",
    "panel.attention.map.beyond": "位置 {q}“{asks}”看不见位置 {k}“{read}”：在 {window} 个位置的窗口之外",
    # 键
    "panel.attention.keys.title": "位置 {position}“{token}”：从分数到权重",
    "panel.attention.keys.label": "权重最大的键",
    "panel.attention.keys.key": "被读的 token",
    "panel.attention.keys.score": "分数",
    "panel.attention.keys.weight": "softmax → 权重",
    "panel.attention.keys.rest": "其余 {n} 个看得见的位置合计：{p}",
    "panel.attention.keys.rest.one": "还有 1 个看得见的位置：{p}",
    "panel.attention.keys.table": "以数字列出所有键，以及从各自的值中取走多少",
    "panel.attention.keys.out": "这个头交出的是所有“权重 × 值”之和：一个长 {norm} 的向量。"
    "各部分首尾相接长 {sum}，只是方向各不相同。",
    "panel.attention.keys.lost": "为节省内存，这个位置的权重没有保留；作答位置的都在。",
    "panel.attention.col.layer": "层",
    "panel.attention.col.head": "头",
    "panel.attention.col.sink": "首个 token",
    "panel.attention.col.entropy": "熵（比特）",
    "panel.attention.col.key": "最强位置",
    "panel.attention.col.position": "位置",
    "panel.attention.col.token": "token",
    "panel.attention.col.score": "分数",
    "panel.attention.col.weight": "权重",
    "panel.attention.col.value": "|值|",
    "panel.attention.col.share": "|权重 × 值|",
}

"""logit lens：每一层之后模型会怎么答。"""

TEXT = {
    "panel.lens.tab": "logit lens",
    "panel.lens.title": "logit lens：每一层之后的猜测",
    "panel.lens.why": "答案并不是一下子就有的。在任意一层之后停下来，把当时的向量当作最后一层的输出来读，"
    "就能看到模型在这一刻会写哪个 token，以及这个猜测怎样一路变成最终写下的那一个。",
    "panel.lens.how": "第 r 行 = softmax(LM head(最终归一化(经过 r 层之后的残差流)))，在作答的位置上、"
    "对整个词表计算；名次 = 1 + 分数更高的 token 个数；熵 = −Σ p log₂ p。",
    "panel.lens.map": "所有层与所有步的热图",
    "panel.lens.kind": "深浅表示",
    "panel.lens.kind.prob": "概率",
    "panel.lens.kind.rank": "名次",
    "panel.lens.kind.entropy": "熵",
    "panel.lens.about.prob": "颜色越深，这一步选中的 token 概率越高。",
    "panel.lens.about.rank": "颜色越深，这一步选中的 token 名次越靠前。",
    "panel.lens.about.entropy": "颜色越深，猜测越分散，概率摊在越多的 token 上。",
    "panel.lens.axes": "纵向：经过的层数，从嵌入（0）到输出（{n}）。横向：各步及其选中的 token。"
    "折线：从这里起，选中的 token 一直排第一。",
    "panel.lens.axes_plain": "纵向：经过的层数，从嵌入（0）到输出（{n}）。横向：各步及其选中的 token。",
    "panel.lens.legend.rank": "第 {n} 名",
    "panel.lens.legend.bits": "{x} 比特",
    "panel.lens.read": "第 {step} 步，经过 {r} / {n} 层：首选「{guess}」 {p} · 选中的「{chosen}」 {q}，"
    "第 {rank} 名 · 熵 {bits} 比特",
    "panel.lens.step": "第 {step} 步（共 {n} 步），一层层猜向：",
    "panel.lens.before": "还没有运行：前进一步，就能看到第一次的猜测。",
    "panel.lens.list": "当前这一步在每一层之后的首选",
    "panel.lens.col.layer": "层数",
    "panel.lens.col.guess": "首选",
    "panel.lens.col.p": "首选的概率",
    "panel.lens.col.chosen": "选中者",
    "panel.lens.col.rank": "名次",
    "panel.lens.embedding": "嵌入",
    "panel.lens.output": "输出",
    "panel.lens.from_here": "从此第一",
    "panel.lens.settled": "经过第 {layer} 层之后（{r} / {n}），「{token}」升到第一，并一直保持到最后。",
    "panel.lens.settled_start": "「{token}」在嵌入里、还没有经过任何一层时就已排第一，并一直保持到最后。",
    "panel.lens.settled_never": "「{token}」不是模型的首选：最后排第 {rank} 名，概率 {p}。",
    "panel.lens.drawn": "它是采样抽中的。",
    "panel.lens.settled_unknown": "没有读出每一层，所以说不出它从哪一层起一直排第一。",
    "panel.lens.last": "最后一行就是模型自己的输出：这里读出的分数与模型在最后一个位置给出的分数，"
    "最多相差 {gap}。",
    "panel.lens.last_equal": "最后一行就是模型自己的输出：这里读出的分数与模型在最后一个位置给出的分数逐位相同。",
    "panel.lens.echo": "还没有经过任何一层时，向量只会读回刚刚读入的 token：嵌入表和 LM head 是同一张表。",
    "panel.lens.honest": "只有最后一层是为这样读出而训练的。对前面各层来说，最终归一化和 LM head "
    "都是借来的眼镜：猜得离谱，也许只是这一层把所知存成了 LM head 读不懂的样子，并不等于它一无所知。",
    "panel.lens.table": "以表格列出这一步的猜测：每层最可能的五个 token",
    "panel.lens.col.guesses": "最可能的 token",
    "panel.lens.col.logprob": "ln p",
    "panel.lens.col.entropy": "熵（比特）",
    "panel.lens.col.chosen_p": "选中者的 p",
}

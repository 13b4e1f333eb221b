"""前馈网络面板。"""

TEXT = {
    "panel.ffn.tab": "前馈网络",
    "panel.ffn.title": "前馈网络：成千上万个小探测器",
    "panel.ffn.why": "注意力从别的 token 那里取来信息之后，每个位置就各自加工。它的数字先被展开成多得多的数字，"
    "也就是神经元；其中大多接近零，少数反应强烈，每一个都把自己的方向加进残差流。有些方向会抬高某些词，压低另一些词。",
    "panel.ffn.how": "有门控：激活值 = f(gate) × up，其中 gate = W_gate · x，up = W_up · x；无门控：激活值 = f(up) · "
    "神经元写入“激活值 × 它的输出行”（W_down 的一列）· 最强：按 |激活值| × 该行的范数排序 · "
    "输出行的含义：该行 ·（最终归一化的增益）· 输出头的每一行。",
    "panel.ffn.at": "位置 {n} 刚读入",
    "panel.ffn.writes": "在第 {n} 次运行中写出",
    "panel.ffn.before": "还没有运行。向前走一步，看第一个 token 怎样产生。",
    "panel.ffn.pending": "正在取这一层……",
    "panel.ffn.failed": "没能取到这一层。",
    "panel.ffn.unseen": "这个模型的神经元无法查看。",
    # 图
    "panel.ffn.pic.label": "按比例画出的前馈网络：进来 {d} 个数，中间 {f} 个神经元，出去 {d} 个数。下面的列表是同一批神经元。",
    "panel.ffn.pic.in": "输入 {d} 个数",
    "panel.ffn.pic.expand_gated": "展开：2 × {d} × {f} = {both} 个权重",
    "panel.ffn.pic.expand_plain": "展开：{d} × {f} = {n} 个权重",
    "panel.ffn.pic.mix_gated": "激活值 = f(gate) × up",
    "panel.ffn.pic.mix_plain": "激活值 = f(up)",
    "panel.ffn.pic.compress": "压缩：{f} × {d} = {n} 个权重",
    "panel.ffn.pic.out": "输出 {d} 个数，长度 {norm}，加进残差流",
    "panel.ffn.pic.hint": "宽度按比例：{f} 个神经元从左到右各占一格，最左是 0 号。只画出最强的 {k} 个（画得比实际宽）；"
    "向上为正，向下为负。可以点击。",
    "panel.ffn.gate": "门控 gate",
    "panel.ffn.up": "升维 up",
    "panel.ffn.activation": "激活值",
    # 写入的长度
    "panel.ffn.norm_attn": "注意力写入",
    "panel.ffn.norm_ffn": "前馈网络写入",
    "panel.ffn.norm_stream": "两者之后的残差流",
    "panel.ffn.norm_hint": "这一层、这个位置上各向量的长度（范数）。长度不能像数字那样相加：向量的方向可以各不相同。",
    # 最强的神经元
    "panel.ffn.strongest": "此处最强的 {n} 个神经元（共 {f} 个）",
    "panel.ffn.strongest_hint": "写入得多就是强。层、神经元和位置都从 0 数起。选中的神经元在逐步查看时保持选中。",
    "panel.ffn.col.neuron": "神经元",
    "panel.ffn.col.wrote": "写入",
    "panel.ffn.row_label": "神经元 {id}：激活值 {value}，写入长度 {norm}",
    "panel.ffn.table": "用表格看这些神经元",
    # 一个神经元
    "panel.ffn.neuron_of": "第 {layer} 层的神经元 {id}",
    "panel.ffn.neuron_pending": "正在用整个词表读它的输出行……",
    "panel.ffn.neuron_failed": "没能读出这个神经元。",
    "panel.ffn.positive": "此处激活值 {value}，大于零：按输出行的方向推。",
    "panel.ffn.negative": "此处激活值 {value}，小于零：推向相反的方向。输出行抬高的词被压低，输出行压低的词被抬高。",
    "panel.ffn.silent": "此处激活值为 0：什么也不推。",
    "panel.ffn.unlisted": "不在此处最强的 {k} 个之中。下面是激活值大于零时它会怎样推。",
    "panel.ffn.pushes_up": "在此处被抬高",
    "panel.ffn.pushes_down": "在此处被压低",
    "panel.ffn.would_up": "输出行抬高的",
    "panel.ffn.would_down": "输出行压低的",
    "panel.ffn.unit": "数值：每单位激活值给该 token 的分数加多少，尚未除以最终归一化的尺度。输出行的长度：{norm}。",
    "panel.ffn.unit_here": "数值：激活值（{value}）× 每单位激活值给该 token 的分数加多少，尚未除以最终归一化的尺度。输出行的长度：{norm}。",
    "panel.ffn.neuron_table": "用表格看这些 token",
    "panel.ffn.lifts": "抬高",
    "panel.ffn.lowers": "压低",
    "panel.ffn.col.side": "输出行",
    "panel.ffn.col.token": "token",
    "panel.ffn.col.id": "编号",
    "panel.ffn.col.score": "每单位",
    # 何处激活
    "panel.ffn.fires": "哪些神经元在哪个 token 上激活",
    "panel.ffn.fires_hint": "一行一个神经元，一列是回答的一步，列名是刚读入的 token。斜线：不在该处最强之列，激活值未知。"
    "点击一格，就选中这个神经元并跳到这一步。",
    "panel.ffn.fires_label": "激活值，神经元 × 步；方向键移动，回车选中",
    "panel.ffn.fires_at": "神经元 {id}，第 {n} 次运行，读入“{read}”，写出“{write}”：激活值 {value}，写入长度 {norm}",
    "panel.ffn.fires_not": "神经元 {id}，第 {n} 次运行，读入“{read}”，写出“{write}”：不在最强的 {k} 个之中",
    "panel.ffn.fires_table": "用表格看这些激活值",
    "panel.ffn.col.run": "运行",
    "panel.ffn.col.read": "读入",
}

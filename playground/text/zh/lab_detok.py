"""还原成文字：整个回答的字节。"""

TEXT = {
    "panel.detok.title": "还原成文字：回答的每一个字节",
    "panel.detok.why": "token 是一段字节，不是一段文字。一个字可能被切进好几个 token，如果逐个 token 解码，"
    "屏幕上就会冒出乱码。所以字节要先攒着，凑齐一个字再显示。下面就是整个回答的字节。",
    "panel.detok.how": "流式 UTF-8：每个 id 的字节送进同一个增量解码器，最后一个字节一到就给出码位，"
    "最多暂存三个字节。“单独解码”指只看这个 id 自己的字节：每一段不合法的最长部分本会变成一个 U+FFFD，"
    "这里写成它的字节，并划掉。",
    "panel.detok.lane": "回答的字符、字节和 token，按顺序排列",
    "panel.detok.none": "还没有生成 token。",
    "panel.detok.story": "{n} 个 token，{bytes} 个字节，{characters} 个字符。",
    "panel.detok.story.one": "1 个 token，{bytes} 个字节，{characters} 个字符。",
    "panel.detok.story_rubbish": "如果逐个解码，其中 {n} 个 token 会显示出 {marks} 个乱码。"
    "把字节连起来解码就一个也没有：有 {held} 次先把字节攒着，等字凑齐。",
    "panel.detok.story_rubbish.one": "如果逐个解码，其中 1 个 token 会显示出 {marks} 个乱码。"
    "把字节连起来解码就没有：有 {held} 次先把字节攒着，等字凑齐。",
    "panel.detok.story_clean": "这个回答里的每个 token 单独看都是完整的字符，所以什么也不用攒。"
    "换成中文或 emoji，这里就不一样了。",
    "panel.detok.legend.char": "字符",
    "panel.detok.legend.byte": "它的字节",
    "panel.detok.legend.token": "token：单独解码的结果，以及它的步数",
    "panel.detok.legend.rubbish": "单独无法读出",
    "panel.detok.legend.held": "攒着：字还没有凑齐",
    "panel.detok.now": "第 {step} 步：id {id} 带来 {bytes}，“{text}”显示出来了。",
    "panel.detok.now_none": "第 {step} 步：id {id} 带来 {bytes}，没有新的字显示出来。",
    "panel.detok.now_end": "第 {step} 步：id {id} 结束回答；它是一个信号，不是文字。",
    "panel.detok.now_held": "攒着：{held}，还差 {n} 个字节。",
    "panel.detok.now_held.one": "攒着：{held}，还差 1 个字节。",
    "panel.detok.now_lost": "剩下 {held}：字还没凑齐，运行就结束了。",
    "panel.detok.now_dropped": "最开头的空格不算文字，这个词表的解码器会把它去掉。",
    "panel.detok.now_rubbish": "单独解码会显示 {n} 个乱码。",
    "panel.detok.now_rubbish.one": "单独解码会显示 1 个乱码。",
    "panel.detok.part": "图中是第 {from} 到 {to} 步（共 {n} 步），会跟着播放器移动。",
    "panel.detok.joined": "字节连起来：读者看到的",
    "panel.detok.each": "逐个 id 单独解码",
    "panel.detok.table": "所有步骤的表格",
    "panel.detok.col.step": "步",
    "panel.detok.col.id": "id",
    "panel.detok.col.bytes": "字节",
    "panel.detok.col.alone": "单独解码",
    "panel.detok.col.held": "之后攒着",
    "panel.detok.col.visible": "显示出来",
    "panel.detok.end": "回答结束",
    "panel.detok.marks": "{n} 个乱码：{bytes}",
}

"""What is said when the inside of a run can not be had right now."""

TEXT = {
    "error.inside_needs_model": "这一部分没有录制。请加载生成这次运行的模型 {name}，即可现场计算。",
    "error.jobs_full": "已有 {waiting} 项计算在进行或排队，服务器暂时不再接收，请稍后再试。",
}

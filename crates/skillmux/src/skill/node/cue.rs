//! The cue words of the rules in [`super::kind`], English and Chinese.

use std::cmp::Ordering;

use super::tree::NodeKind;

/// Returns the kind that a heading or the header of a column names; the first of the kinds'
/// order in [`PRIORITY`] where it names several, `None` where it names none.
pub(super) fn heading_kind(title: &str) -> Option<NodeKind> {
    let mut found = None;
    for word in Words(title) {
        found = first_of(found, look_up(HEADING_WORDS, word));
    }
    if title.is_ascii() {
        let mut phrases = HEADING_PHRASES.iter();
        let by_phrase = phrases.find(|(phrase, _)| contains_ignore_case(title, phrase));
        return by_phrase.map(|(_, kind)| *kind).or(found);
    }
    for (phrase, kind) in HEADING_WORDS_ZH {
        if title.contains(phrase) {
            found = first_of(found, Some(*kind));
        }
    }
    found
}

/// Returns the kind that a label names, the text before the colon in `Example: two files`.
pub(super) fn label_kind(label: &str) -> Option<NodeKind> {
    let label = label.trim_matches(['*', '_', ' ', '`']);
    // A label is a word or two; a longer text is the begin of a sentence.
    if Words(label).count() > 2 {
        return None;
    }
    let kind = heading_kind(label)?;
    matches!(
        kind,
        NodeKind::Example | NodeKind::ErrorHandling | NodeKind::Precondition | NodeKind::Param
    )
    .then_some(kind)
}

/// Tells whether `text` begins with an imperative verb, after an adverb such as `first`.
pub(super) fn is_imperative(text: &str) -> bool {
    if text.starts_with(|c: char| c.is_ascii()) {
        let mut words = Words(text).skip_while(|word| is_listed(ADVERBS, word));
        words.next().is_some_and(|word| is_listed(VERBS, word))
    } else {
        let text = ADVERBS_ZH
            .iter()
            .find_map(|adverb| text.strip_prefix(adverb))
            .unwrap_or(text)
            .trim_start_matches(['，', ',', ' ']);
        VERBS_ZH.iter().any(|verb| text.starts_with(verb))
    }
}

/// Tells whether `text` has one of the words; `words` is sorted, `words_zh` may match anywhere.
pub(super) fn has_word(text: &str, words: &[&str], words_zh: &[&str]) -> bool {
    Words(text).any(|word| is_listed(words, word))
        || !text.is_ascii() && words_zh.iter().any(|word| text.contains(word))
}

/// Kinds in the order in which a heading that names several is decided.
const PRIORITY: [NodeKind; 6] = [
    NodeKind::Precondition,
    NodeKind::ErrorHandling,
    NodeKind::Example,
    NodeKind::Param,
    NodeKind::Step,
    NodeKind::Concept,
];

fn first_of(a: Option<NodeKind>, b: Option<NodeKind>) -> Option<NodeKind> {
    PRIORITY.into_iter().find(|kind| Some(*kind) == a || Some(*kind) == b)
}

/// ASCII words of a text, in source order.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.0.as_bytes();
        let start = bytes.iter().position(u8::is_ascii_alphabetic)?;
        let n_letters = bytes[start..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = &self.0[start..start + n_letters];
        self.0 = &self.0[start + n_letters..];
        Some(word)
    }
}

fn compare_ignore_case(a: &str, b: &str) -> Ordering {
    a.bytes()
        .map(|byte| byte.to_ascii_lowercase())
        .cmp(b.bytes().map(|byte| byte.to_ascii_lowercase()))
}

fn look_up(table: &[(&str, NodeKind)], word: &str) -> Option<NodeKind> {
    let at = table.binary_search_by(|(known, _)| compare_ignore_case(known, word)).ok()?;
    Some(table[at].1)
}

fn is_listed(words: &[&str], word: &str) -> bool {
    words.binary_search_by(|known| compare_ignore_case(known, word)).is_ok()
}

fn contains_ignore_case(text: &str, phrase: &str) -> bool {
    text.as_bytes().windows(phrase.len()).any(|part| part.eq_ignore_ascii_case(phrase.as_bytes()))
}

/// Words of a heading, sorted.
#[rustfmt::skip] // One entry a line would fill pages.
const HEADING_WORDS: &[(&str, NodeKind)] = &[
    ("about", NodeKind::Concept), ("architecture", NodeKind::Concept), ("args", NodeKind::Param),
    ("argument", NodeKind::Param), ("arguments", NodeKind::Param),
    ("background", NodeKind::Concept), ("capabilities", NodeKind::Concept),
    ("caveat", NodeKind::ErrorHandling), ("caveats", NodeKind::ErrorHandling),
    ("checklist", NodeKind::Step), ("concept", NodeKind::Concept),
    ("concepts", NodeKind::Concept), ("config", NodeKind::Param),
    ("configuration", NodeKind::Param), ("configure", NodeKind::Param),
    ("constraint", NodeKind::Precondition), ("constraints", NodeKind::Precondition),
    ("credits", NodeKind::Concept),
    ("debugging", NodeKind::ErrorHandling), ("demo", NodeKind::Example),
    ("demos", NodeKind::Example), ("dependencies", NodeKind::Precondition),
    ("dependency", NodeKind::Precondition), ("description", NodeKind::Concept),
    ("error", NodeKind::ErrorHandling),
    ("errors", NodeKind::ErrorHandling), ("example", NodeKind::Example),
    ("examples", NodeKind::Example), ("execution", NodeKind::Step),
    ("failure", NodeKind::ErrorHandling), ("failures", NodeKind::ErrorHandling),
    ("fallback", NodeKind::ErrorHandling), ("fallbacks", NodeKind::ErrorHandling),
    ("faq", NodeKind::ErrorHandling), ("features", NodeKind::Concept), ("field", NodeKind::Param),
    ("fields", NodeKind::Param), ("flag", NodeKind::Param), ("flags", NodeKind::Param),
    ("glossary", NodeKind::Concept), ("gotcha", NodeKind::ErrorHandling),
    ("gotchas", NodeKind::ErrorHandling), ("guardrails", NodeKind::Precondition),
    ("implementation", NodeKind::Step), ("inputs", NodeKind::Param),
    ("install", NodeKind::Step), ("installation", NodeKind::Step),
    ("instruction", NodeKind::Step), ("instructions", NodeKind::Step),
    ("introduction", NodeKind::Concept), ("issue", NodeKind::ErrorHandling),
    ("issues", NodeKind::ErrorHandling), ("limitations", NodeKind::ErrorHandling),
    ("mandatory", NodeKind::Precondition), ("mistake", NodeKind::ErrorHandling),
    ("mistakes", NodeKind::ErrorHandling), ("motivation", NodeKind::Concept),
    ("option", NodeKind::Param), ("options", NodeKind::Param), ("overview", NodeKind::Concept),
    ("param", NodeKind::Param), ("parameter", NodeKind::Param), ("parameters", NodeKind::Param),
    ("params", NodeKind::Param), ("permission", NodeKind::Precondition),
    ("permissions", NodeKind::Precondition), ("phase", NodeKind::Step),
    ("phases", NodeKind::Step), ("philosophy", NodeKind::Concept),
    ("pitfall", NodeKind::ErrorHandling), ("pitfalls", NodeKind::ErrorHandling),
    ("precondition", NodeKind::Precondition), ("preconditions", NodeKind::Precondition),
    ("prerequisite", NodeKind::Precondition), ("prerequisites", NodeKind::Precondition),
    ("principle", NodeKind::Concept), ("principles", NodeKind::Concept),
    ("problems", NodeKind::ErrorHandling),
    ("procedure", NodeKind::Step), ("procedures", NodeKind::Step), ("process", NodeKind::Step),
    ("properties", NodeKind::Param), ("purpose", NodeKind::Concept),
    ("quickstart", NodeKind::Step), ("recovery", NodeKind::ErrorHandling),
    ("reference", NodeKind::Concept), ("references", NodeKind::Concept),
    ("related", NodeKind::Concept),
    ("requirement", NodeKind::Precondition),
    ("requirements", NodeKind::Precondition),
    ("resources", NodeKind::Concept), ("restrictions", NodeKind::Precondition),
    ("sample", NodeKind::Example),
    ("samples", NodeKind::Example), ("setting", NodeKind::Param), ("settings", NodeKind::Param),
    ("setup", NodeKind::Step), ("snippet", NodeKind::Example), ("snippets", NodeKind::Example),
    ("stage", NodeKind::Step), ("step", NodeKind::Step), ("steps", NodeKind::Step),
    ("summary", NodeKind::Concept), ("task", NodeKind::Step), ("tasks", NodeKind::Step),
    ("template", NodeKind::Example), ("templates", NodeKind::Example),
    ("terminology", NodeKind::Concept), ("theory", NodeKind::Concept),
    ("troubleshoot", NodeKind::ErrorHandling), ("troubleshooting", NodeKind::ErrorHandling),
    ("tutorial", NodeKind::Step), ("usage", NodeKind::Example), ("variable", NodeKind::Param),
    ("variables", NodeKind::Param), ("warning", NodeKind::ErrorHandling),
    ("warnings", NodeKind::ErrorHandling), ("workflow", NodeKind::Step),
    ("workflows", NodeKind::Step),
];

/// Phrases of a heading; they outrank its words.
const HEADING_PHRASES: &[(&str, NodeKind)] = &[
    ("when to use", NodeKind::Concept),
    ("when not to use", NodeKind::Concept),
    ("when this skill", NodeKind::Concept),
    ("what is", NodeKind::Concept),
    ("how it works", NodeKind::Concept),
    ("how to", NodeKind::Step),
    ("before you", NodeKind::Precondition),
    ("edge case", NodeKind::ErrorHandling),
    ("quick start", NodeKind::Step),
    ("getting started", NodeKind::Step),
];

/// Parts of a Chinese heading.
#[rustfmt::skip] // One entry a line would fill pages.
const HEADING_WORDS_ZH: &[(&str, NodeKind)] = &[
    ("前置", NodeKind::Precondition), ("前提", NodeKind::Precondition),
    ("要求", NodeKind::Precondition), ("依赖", NodeKind::Precondition),
    ("约束", NodeKind::Precondition), ("规则", NodeKind::Precondition),
    ("必须", NodeKind::Precondition), ("故障", NodeKind::ErrorHandling),
    ("排查", NodeKind::ErrorHandling), ("常见问题", NodeKind::ErrorHandling),
    ("错误", NodeKind::ErrorHandling), ("异常", NodeKind::ErrorHandling),
    ("注意", NodeKind::ErrorHandling), ("示例", NodeKind::Example), ("例子", NodeKind::Example),
    ("样例", NodeKind::Example), ("案例", NodeKind::Example), ("模板", NodeKind::Example),
    ("用法", NodeKind::Example), ("参数", NodeKind::Param), ("选项", NodeKind::Param),
    ("配置", NodeKind::Param), ("设置", NodeKind::Param), ("变量", NodeKind::Param),
    ("字段", NodeKind::Param), ("步骤", NodeKind::Step), ("流程", NodeKind::Step),
    ("操作", NodeKind::Step), ("执行", NodeKind::Step), ("安装", NodeKind::Step),
    ("快速开始", NodeKind::Step), ("指南", NodeKind::Step), ("概述", NodeKind::Concept),
    ("背景", NodeKind::Concept), ("简介", NodeKind::Concept), ("介绍", NodeKind::Concept),
    ("何时使用", NodeKind::Concept), ("适用场景", NodeKind::Concept), ("使用场景", NodeKind::Concept),
    ("功能", NodeKind::Concept), ("原理", NodeKind::Concept), ("参考", NodeKind::Concept),
];

/// Words that, after a condition, tell of a failure; sorted.
#[rustfmt::skip] // One entry a line would fill pages.
pub(super) const FAILURES: &[&str] = &[
    "cannot", "corrupt", "corrupted", "crash", "crashes", "denied", "error", "errors",
    "exception", "fail", "failed", "failing", "fails", "failure", "invalid", "missing", "refused",
    "rejected", "stuck", "timeout", "timeouts", "unable", "unavailable", "unreachable", "wrong",
];
pub(super) const FAILURES_ZH: &[&str] =
    &["失败", "报错", "错误", "异常", "超时", "无法", "找不到", "缺失"];

/// Words that state a requirement; sorted.
#[rustfmt::skip] // One entry a line would fill pages.
pub(super) const REQUIREMENTS: &[&str] = &[
    "always", "mandatory", "must", "never", "prerequisite", "prerequisites", "require",
    "required", "requires",
];
pub(super) const REQUIREMENTS_ZH: &[&str] =
    &["必须", "务必", "需要先", "前提", "禁止", "不得", "不要"];

/// Adverbs before an imperative; sorted.
#[rustfmt::skip] // One entry a line would fill pages.
const ADVERBS: &[&str] = &[
    "also", "always", "carefully", "finally", "first", "immediately", "just", "next", "now",
    "optionally", "please", "quickly", "second", "simply", "then",
];
const ADVERBS_ZH: &[&str] = &["首先", "然后", "接着", "最后", "请先", "请", "先", "再"];

/// Verbs that open an instruction; sorted.
#[rustfmt::skip] // One entry a line would fill pages.
const VERBS: &[&str] = &[
    "access", "activate", "add", "adjust", "align", "allow", "analyse", "analyze", "apply",
    "archive", "ask", "assess", "assign", "attach", "audit", "authenticate", "avoid", "backup",
    "begin", "bind", "browse", "build", "bump", "call", "capture", "change", "check", "choose",
    "clarify", "classify", "clean", "clear", "click", "clone", "close", "collect", "combine",
    "commit", "compare", "compile", "complete", "compose", "compute", "conduct", "configure",
    "confirm", "connect", "consider", "consult", "convert", "copy", "create", "cut", "debug",
    "decide", "declare", "define", "delete", "deliver", "deploy", "describe", "design", "detect",
    "determine", "develop", "disable", "discover", "discuss", "display", "divide", "document",
    "download", "draft", "drop", "edit", "embed", "enable", "encode", "enforce", "ensure",
    "enter", "establish", "estimate", "evaluate", "examine", "execute", "expand", "explain",
    "explore", "export", "expose", "extend", "extract", "fetch", "fill", "filter", "find", "fix",
    "flag", "focus", "follow", "format", "gather", "generate", "get", "give", "grant", "group",
    "handle", "hide", "highlight", "identify", "ignore", "implement", "import", "improve",
    "include", "increase", "initialize", "insert", "inspect", "install", "integrate",
    "investigate", "invoke", "isolate", "iterate", "join", "keep", "launch", "leave", "limit",
    "link", "list", "listen", "load", "locate", "log", "look", "maintain", "make", "manage",
    "map", "mark", "match", "measure", "merge", "migrate", "minimize", "mock", "modify",
    "monitor", "mount", "move", "name", "navigate", "normalize", "note", "notify", "offer",
    "omit", "open", "optimize", "organize", "outline", "output", "parse", "pass", "paste",
    "perform", "pick", "pin", "place", "plan", "post", "prefer", "prepare", "present", "preserve",
    "press", "prevent", "print", "prioritize", "process", "produce", "prompt", "propose",
    "provide", "publish", "pull", "push", "put", "query", "quote", "rank", "read", "rebuild",
    "receive", "recommend", "record", "reduce", "refactor", "refer", "reference", "register",
    "reload", "remove", "rename", "render", "repeat", "replace", "reply", "report", "request",
    "research", "reset", "resolve", "respond", "restart", "restore", "retrieve", "return",
    "reuse", "review", "revise", "rewrite", "rotate", "run", "save", "scan", "schedule", "search",
    "secure", "select", "send", "separate", "set", "share", "show", "simplify", "skip", "sort",
    "specify", "split", "stage", "start", "state", "stop", "store", "structure", "submit",
    "suggest", "summarize", "support", "switch", "sync", "tag", "take", "tell", "test", "tie",
    "trace", "track", "train", "transform", "translate", "treat", "trigger", "truncate", "try",
    "tune", "turn", "understand", "unzip", "update", "upgrade", "upload", "use", "utilize",
    "validate", "verify", "visit", "wait", "walk", "warn", "watch", "wrap", "write",
];
#[rustfmt::skip] // One entry a line would fill pages.
const VERBS_ZH: &[&str] = &[
    "使用", "运行", "执行", "打开", "关闭", "点击", "创建", "新建", "安装", "卸载", "检查", "确认", "确保", "添加", "删除",
    "移除", "设置", "配置", "修改", "更新", "调用", "读取", "写入", "生成", "编写", "分析", "选择", "输入", "输出", "提取",
    "下载", "上传", "启动", "停止", "重启", "查看", "查询", "搜索", "收集", "整理", "验证", "测试", "提交", "发布", "部署",
    "复制", "保存", "转换", "解析", "获取", "识别", "根据", "列出", "计算", "比较", "合并", "拆分", "替换", "避免", "询问",
    "等待", "记录", "定义", "理解", "明确", "优先", "参考", "遵循",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(HEADING_WORDS.is_sorted_by(|a, b| a.0 < b.0));
        for words in [FAILURES, REQUIREMENTS, ADVERBS, VERBS] {
            assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
        }
    }

    #[test]
    fn headings_name_kinds() {
        for (title, kind) in [
            ("Error Handling Examples", Some(NodeKind::ErrorHandling)),
            ("When to Use This Skill", Some(NodeKind::Concept)),
            ("STEP 1: Scan", Some(NodeKind::Step)),
            ("安装要求", Some(NodeKind::Precondition)),
            ("二、操作流程", Some(NodeKind::Step)),
            ("Scan resolution", None),
            ("扫描", None),
        ] {
            assert_eq!(heading_kind(title), kind, "{title}");
        }
    }

    #[test]
    fn labels_are_short() {
        assert_eq!(label_kind("**Example"), Some(NodeKind::Example));
        assert_eq!(label_kind("注意"), Some(NodeKind::ErrorHandling));
        assert_eq!(label_kind("The next example shows"), None);
        assert_eq!(label_kind("Overview"), None);
    }
}

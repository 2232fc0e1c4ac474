//! [`SkillProfile`]: what a skill takes and makes, and how well it follows another one.

use std::collections::BTreeSet;

use crate::{skill::Skill, text::Analyzer};

/// Things that work is done on, each with the words for it.
const THINGS: [(&str, &[&str]); 14] = [
    ("table", &["csv", "dataframe", "excel", "spreadsheet", "tabular", "xlsx", "表格"]),
    ("document", &["docx", "document", "documents", "pdf", "pdfs", "word document", "文档"]),
    ("slides", &["deck", "powerpoint", "pptx", "presentation", "slides", "幻灯片"]),
    (
        "text",
        &["article", "markdown", "summary", "text", "transcript", "translation", "文章", "文本"],
    ),
    ("image", &["image", "images", "photo", "photos", "picture", "screenshot", "图片", "图像"]),
    ("chart", &["chart", "charts", "dashboard", "diagram", "graph", "plot", "图表"]),
    ("audio", &["audio", "podcast", "recording", "speech", "voice", "音频", "语音"]),
    ("video", &["clip", "subtitles", "video", "videos", "视频"]),
    ("page", &["html", "url", "web page", "web pages", "website", "websites", "网页", "网站"]),
    ("data", &["api response", "data", "dataset", "datasets", "json", "metrics", "数据"]),
    ("database", &["database", "databases", "postgres", "sql", "数据库"]),
    ("code", &["code", "codebase", "function", "repository", "script", "source code", "代码"]),
    ("message", &["email", "emails", "message", "messages", "notification", "邮件", "消息"]),
    ("report", &["audit", "findings", "report", "reports", "报告"]),
];

/// Words after which a thing is made.
const MAKING: [&str; 24] = [
    "as",
    "build",
    "builds",
    "create",
    "creates",
    "draft",
    "drafts",
    "export",
    "exports",
    "generate",
    "generates",
    "into",
    "make",
    "makes",
    "produce",
    "produces",
    "send",
    "sends",
    "to",
    "write",
    "writes",
    "制作",
    "生成",
    "转成",
];

/// Words after which a thing is taken.
const TAKING: [&str; 26] = [
    "analyse",
    "analyze",
    "analyzes",
    "convert",
    "converts",
    "edit",
    "edits",
    "extract",
    "extracts",
    "from",
    "import",
    "imports",
    "of",
    "parse",
    "parses",
    "process",
    "processes",
    "query",
    "read",
    "reads",
    "review",
    "summarize",
    "summarizes",
    "分析",
    "根据",
    "读取",
];

/// What a skill says of itself, as far as it tells which skills work together.
///
/// It is read from the name, the description and the id alone, by words: most skills declare no
/// types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillProfile {
    /// Things that it takes.
    takes: BTreeSet<&'static str>,
    /// Things that it makes.
    makes: BTreeSet<&'static str>,
    /// Folders of its id, and its source: the nearest there is to a category.
    places: BTreeSet<String>,
    /// Terms of its name and description.
    terms: BTreeSet<String>,
}

/// What a word of a description says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Makes,
    Takes,
    Thing(&'static str),
}

impl SkillProfile {
    /// Reads a skill.
    pub fn of(skill: &Skill) -> Self {
        let mut profile = Self::default();
        let folders = skill.id.as_str().rsplit_once('/').map_or("", |(folders, _)| folders);
        let places =
            folders.split('/').chain([skill.source.as_str()]).filter(|place| !place.is_empty());
        profile.places = places.map(str::to_lowercase).collect();
        Analyzer::new().for_each_term_of(&[&skill.name, &skill.description], &mut |_, term| {
            profile.terms.insert(term.to_owned());
        });
        for sentence in skill.description.split(['.', '!', '?', ';', '。', '；', '\n']) {
            let mut is_made = false;
            for mark in marks(&sentence.to_lowercase()) {
                match mark {
                    Mark::Makes => is_made = true,
                    Mark::Takes => is_made = false,
                    Mark::Thing(thing) if is_made => _ = profile.makes.insert(thing),
                    Mark::Thing(thing) => _ = profile.takes.insert(thing),
                }
            }
        }
        profile
    }

    /// Returns the things that the skill makes, such as `table`, in alphabetical order.
    pub fn makes(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.makes.iter().copied()
    }

    /// Returns the things that the skill takes, in alphabetical order.
    pub fn takes(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.takes.iter().copied()
    }

    /// Returns how well another skill follows this one, in `[0, 1]`: the mean of the share of what
    /// that one takes that this one makes, and of what their places and their terms have in common
    /// (Jaccard). These are the three parts that `SkillWeaver` names (section 4.3); it does not
    /// publish how it measures them.
    pub(crate) fn followed_by(&self, next: &Self) -> f32 {
        let passed_on = share(next.takes.intersection(&self.makes).count(), next.takes.len());
        let jaccard = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
            let n_common = a.intersection(b).count();
            share(n_common, a.len() + b.len() - n_common)
        };
        (passed_on + jaccard(&self.places, &next.places) + jaccard(&self.terms, &next.terms)) / 3.0
    }
}

/// Returns the marks of a sentence in their order.
fn marks(sentence: &str) -> Vec<Mark> {
    let verbs = MAKING.iter().map(|word| (*word, Mark::Makes));
    let verbs = verbs.chain(TAKING.iter().map(|word| (*word, Mark::Takes)));
    let things = THINGS
        .iter()
        .flat_map(|(thing, words)| words.iter().map(|word| (*word, Mark::Thing(thing))));
    let mut found: Vec<(usize, Mark)> = Vec::new();
    for (word, mark) in verbs.chain(things) {
        let places = sentence.match_indices(word).map(|(at, _)| at);
        found.extend(places.filter(|at| is_whole(sentence, *at, word)).map(|at| (at, mark)));
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, mark)| mark).collect()
}

/// Returns whether a word stands by itself; Chinese words are not set apart.
fn is_whole(text: &str, at: usize, word: &str) -> bool {
    let is_letter =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    !word.is_ascii()
        || !(is_letter(text[..at].chars().next_back())
            || is_letter(text[at + word.len()..].chars().next()))
}

fn share(part: usize, whole: usize) -> f32 {
    if whole == 0 { 0.0 } else { part as f32 / whole as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::SkillId;

    fn profile(id: &str, description: &str) -> SkillProfile {
        SkillProfile::of(&Skill {
            id: SkillId::new(id),
            name: id.rsplit('/').next().unwrap().to_owned(),
            description: description.to_owned(),
            body: String::new(),
            source: "here".to_owned(),
        })
    }

    #[test]
    fn what_is_taken_and_made_follows_from_the_words_before() {
        let profile =
            profile("convert", "Reads a CSV file and makes slides. Extracts text from PDFs.");
        assert_eq!(profile.takes, BTreeSet::from(["document", "table", "text"]));
        assert_eq!(profile.makes, BTreeSet::from(["slides"]));
        let chinese = super::tests::profile("zh", "读取表格，生成图表");
        assert_eq!(chinese.takes, BTreeSet::from(["table"]));
        assert_eq!(chinese.makes, BTreeSet::from(["chart"]));
    }

    #[test]
    fn a_skill_follows_one_that_makes_what_it_takes() {
        let transcribe = profile("media/transcribe", "Makes a transcript from a recording.");
        let summarise = profile("media/brief", "Summarizes a transcript.");
        let deploy = profile("cloud/deploy", "Reviews the code of a cluster.");
        assert!(transcribe.followed_by(&summarise) > transcribe.followed_by(&deploy));
        assert!(transcribe.followed_by(&summarise) > summarise.followed_by(&transcribe));
        let whole = transcribe.followed_by(&transcribe);
        assert!((0.0..=1.0).contains(&whole));
    }
}

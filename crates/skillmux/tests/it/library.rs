//! Small libraries, and indexes of them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use skillmux::{
    Result,
    index::{Index, IndexedSkill, UpdateMode, UpdateOptions, UpdateReport},
    library::Library,
    model::Encoder,
    skill::SkillId,
};
use tempfile::TempDir;

use crate::term_encoder::TermEncoder;

/// A skill as a line of a shard says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) body: String,
}

impl Line {
    pub(crate) fn new(id: &str, name: &str, description: &str, body: &str) -> Self {
        let [id, name, description, body] = [id, name, description, body].map(str::to_owned);
        Self { id, name, description, body }
    }

    fn to_json(&self) -> String {
        let Self { id, name, description, body } = self;
        serde_json::json!({
            "skill_id": id, "name": name, "description": description, "body": body
        })
        .to_string()
    }
}

/// Returns a temporary folder, in memory where there is such a place: an update waits for the
/// disk several times, and no test takes the power away.
pub(crate) fn tempdir() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A shard and an index of it, in a folder that goes away with it.
pub(crate) struct Workshop {
    dir: TempDir,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        Self { dir: tempdir() }
    }

    /// Returns a workshop whose index holds the lines.
    pub(crate) fn with(lines: &[Line]) -> Self {
        let workshop = Self::new();
        workshop.update(lines).unwrap();
        workshop
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn index_path(&self) -> PathBuf {
        self.dir.path().join("index")
    }

    /// Replaces the shard and returns the library of it.
    pub(crate) fn write(&self, lines: &[Line]) -> Library {
        let path = self.dir.path().join("pool.jsonl");
        let text: String = lines.iter().map(|line| line.to_json() + "\n").collect();
        fs::write(&path, text).unwrap();
        Library::open([path]).unwrap()
    }

    /// Brings the index up to date with the lines.
    pub(crate) fn update(&self, lines: &[Line]) -> Result<UpdateReport> {
        let library = self.write(lines);
        Index::update(&self.index_path(), &library, &options(UpdateMode::Incremental), &mut |_| {})
    }

    /// Makes the index anew from the lines.
    pub(crate) fn rebuild(&self, lines: &[Line]) -> Result<UpdateReport> {
        let library = self.write(lines);
        Index::update(&self.index_path(), &library, &options(UpdateMode::Rebuild), &mut |_| {})
    }

    pub(crate) fn open(&self) -> Result<Index> {
        Index::open(&self.index_path())
    }
}

/// Returns options that suit a few skills.
pub(crate) fn options(mode: UpdateMode) -> UpdateOptions {
    let sources = vec!["pool.jsonl".to_owned()];
    let encoder: Arc<dyn Encoder> = Arc::new(TermEncoder::new("1"));
    UpdateOptions {
        mode,
        sources,
        n_threads: 1,
        memory_bytes: 16 << 20,
        encoder: Some(encoder),
        vectors: None,
        transformer: None,
    }
}

/// Returns all that an index holds, in order.
pub(crate) fn contents(index: &Index) -> Result<Vec<IndexedSkill>> {
    let ids: Vec<SkillId> = index.ids().collect::<Result<_>>()?;
    ids.iter().map(|id| index.skill(index.find(id)?)).collect()
}

/// Returns skills about documents, tables and slides, two of them in Chinese.
pub(crate) fn sample() -> Vec<Line> {
    vec![
        Line::new(
            "docs/pdf-forms",
            "pdf-forms",
            "Fill in the fields of a PDF form",
            "# Forms\n\n1. List the fields with their types.\n2. Fill them in and flatten.\n\n\
             ```bash\npdftk in.pdf dump_data_fields\n```\n",
        ),
        Line::new(
            "docs/slides",
            "slide-deck",
            "Build slides from an outline",
            "Write one message a slide. Tables become charts.\n",
        ),
        Line::new(
            "data/csv-cleaning",
            "csv-cleaning",
            "Clean messy CSV tables",
            "Read the header, then fix types and drop the rows that repeat.\n",
        ),
        Line::new(
            "zh/fapiao",
            "发票报销",
            "整理发票并填写报销单",
            "先核对发票抬头和税号，再按日期汇总金额。\n\n- 缺少发票时写明原因。\n",
        ),
        Line::new(
            "zh/contract",
            "合同审查",
            "检查合同里的付款条款",
            "逐条列出付款条件、违约责任和争议解决方式。\n",
        ),
    ]
}

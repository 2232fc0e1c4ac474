//! Needs that a chat model says for the tasks of a run.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use anyhow::Context;
use serde_json::json;
use skillmux::{
    query::Query,
    route::{NeedsWriter, Router},
};
use skillmux_eval::{report::NeedsSetting, task::Task};

use crate::render::progress::progress;

/// Name of the file of needs in the folder of a run.
const FILE: &str = "needs.jsonl";

/// Lets a chat model say the needs of the tasks that bring none, and keeps all needs in the folder
/// of the run, so that `--needs` can give them again. Returns which needs the tasks have now.
///
/// # Errors
/// The first failure of the model: a task without needs would be measured as if the model had said
/// none. What it said before is in the file.
pub(super) fn say(
    tasks: &mut [Task],
    writer: &NeedsWriter,
    router: &Router,
    out: Option<&Path>,
) -> anyhow::Result<NeedsSetting> {
    let path = out.map(|out| out.join(FILE));
    let mut file = None;
    let bar = progress(tasks.len(), "tasks whose needs are said");
    let (mut n_tasks, mut hash) = (0, blake3::Hasher::new());
    for task in tasks {
        let mut passes = Vec::new();
        // A text that is no query is refused when it is asked.
        if let (true, Ok(query)) = (task.needs.is_empty(), Query::new(task.query.as_str())) {
            passes = writer.write(router, &query)?;
            task.needs = passes.last().map(|pass| pass.needs.clone()).unwrap_or_default();
        }
        n_tasks += usize::from(!task.needs.is_empty());
        hash.update(json!([task.id, task.needs]).to_string().as_bytes());
        if let Some(path) = &path {
            let line = json!({ "query_id": task.id, "needs": task.needs, "passes": passes });
            // Made with the first answer: an empty file would hide what an earlier run has kept.
            let open = || File::create(path).map(BufWriter::new);
            let written = file.take().map_or_else(open, Ok).and_then(|mut open| {
                writeln!(open, "{line}")?;
                open.flush()?;
                Ok(open)
            });
            file = Some(written.with_context(|| format!("cannot write `{}`", path.display()))?);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(NeedsSetting { hash: hash.finalize().to_hex()[..16].to_owned(), n_tasks })
}

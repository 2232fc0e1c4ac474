//! What `--options` changes.

use anyhow::Context;
use serde::{Serialize, de::DeserializeOwned};

/// Returns options with those of a JSON object instead.
pub(super) fn changed<O: Serialize + DeserializeOwned>(
    options: &O,
    changes: Option<&str>,
) -> anyhow::Result<O> {
    let mut options = serde_json::to_value(options)?;
    let changes: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(changes.unwrap_or("{}"))
            .context("`--options` is not a JSON object")?;
    for (name, value) in changes {
        let option =
            options.get_mut(&name).with_context(|| format!("there is no option `{name}`"))?;
        *option = value;
    }
    serde_json::from_value(options).context("an option has a value of another kind")
}

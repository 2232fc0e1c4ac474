//! What a document of the lexical index consists of.

use tantivy::schema::{
    FAST, Field as TantivyField, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing,
    TextOptions,
};

use super::field::Field;

/// Name of our tokenizer in the schema.
pub(super) const TOKENIZER: &str = "skillmux";

/// Returns a name without case, joints and spaces: how an exact mention of it is recognised.
pub(crate) fn name_key(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Fields of a document.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub(super) slot: TantivyField,
    pub(super) name_key: TantivyField,
    pub(super) text: [TantivyField; 3],
}

/// Returns the schema, and its fields.
pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    let options = TextOptions::default().set_indexing_options(indexing);
    let fields = Fields {
        slot: schema.add_u64_field("slot", INDEXED | FAST),
        name_key: schema.add_text_field("name_key", STRING),
        text: Field::ALL.map(|field| schema.add_text_field(field.as_str(), options.clone())),
    };
    (schema.build(), fields)
}

//! [`Rectangle`]: attention of all sequences of a batch at once.
//!
//! The gradient of a part of a matrix is a matrix of the size of the whole, so that attention by
//! sequence, which is what encoding does, would cost the square of the batch in training. Here the
//! sequences lie side by side, filled up to the longest; what fills up is hidden and has no
//! gradient.

use candle_core::{Device, Result as TensorResult, Tensor};

use super::{
    batch::Batch,
    layer::{look_up, softmax},
};

/// Which tokens of its sequence a token attends to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    All,
    /// Itself and those before it.
    Earlier,
}

/// Sequences side by side.
pub(super) struct Rectangle {
    n_sequences: usize,
    n_columns: usize,
    /// The row of the batch that stands at each place; row 0 where a sequence is filled up.
    row_of_place: Vec<u32>,
    /// The place of each row of the batch.
    place_of_row: Vec<u32>,
    /// Added to the logits of a place by columns: 0, or minus infinity for what is hidden;
    /// `[n_sequences or 1, 1, n_columns or 1, n_columns]`.
    mask: Tensor,
}

/// What attention reads, `[n_tokens, n_heads, head_width]`; there may be fewer heads of keys and
/// values, each for as many of queries that follow each other.
pub(super) struct Heads {
    pub(super) queries: Tensor,
    pub(super) keys: Tensor,
    pub(super) values: Tensor,
}

impl Rectangle {
    pub(super) fn of(batch: &Batch<'_>, seen: Seen, device: &Device) -> TensorResult<Self> {
        let rows = batch.rows();
        let (n_sequences, n_columns) =
            (rows.len(), rows.iter().map(ExactSizeIterator::len).max().unwrap_or(0));
        let mut row_of_place = vec![0; n_sequences * n_columns];
        let mut place_of_row = Vec::new();
        let mut hidden = vec![f32::NEG_INFINITY; n_sequences * n_columns];
        for (sequence, rows) in rows.into_iter().enumerate() {
            for (column, row) in rows.enumerate() {
                let place = sequence * n_columns + column;
                row_of_place[place] = narrow(row);
                place_of_row.push(narrow(place));
                hidden[place] = 0.0;
            }
        }
        let mask = match seen {
            Seen::All => Tensor::from_vec(hidden, (n_sequences, 1, 1, n_columns), device)?,
            // What fills up comes after a sequence.
            Seen::Earlier => not_later(n_columns, n_columns, device)?.unsqueeze(0)?.unsqueeze(0)?,
        };
        Ok(Self { n_sequences, n_columns, row_of_place, place_of_row, mask })
    }

    /// Returns what each token takes from those that it sees, `[n_tokens, n_heads * head_width]`.
    pub(super) fn attend(&self, heads: &Heads) -> TensorResult<Tensor> {
        let Self { n_sequences: n, n_columns, .. } = *self;
        let (_, n_heads, width) = heads.queries.dims3()?;
        let n_key_heads = heads.keys.dim(1)?;
        let n_group = n_heads / n_key_heads;
        let scale = 1.0 / (width as f64).sqrt();
        // The queries of one key head, one after the other.
        let queries = look_up(&(&heads.queries * scale)?, self.row_of_place.clone())?
            .reshape((n, n_columns, n_key_heads, n_group, width))?
            .permute((0, 2, 3, 1, 4))?
            .reshape((n, n_key_heads, n_group * n_columns, width))?;
        let spread = |rows: &Tensor| {
            look_up(rows, self.row_of_place.clone())?
                .reshape((n, n_columns, n_key_heads, width))?
                .transpose(1, 2)?
                .contiguous()
        };
        let logits = queries
            .matmul(&spread(&heads.keys)?.t()?)?
            .reshape((n, n_heads, n_columns, n_columns))?
            .broadcast_add(&self.mask)?;
        let attended = softmax(logits)?
            .reshape((n, n_key_heads, n_group * n_columns, n_columns))?
            .matmul(&spread(&heads.values)?)?
            .reshape((n, n_key_heads, n_group, n_columns, width))?
            .permute((0, 3, 1, 2, 4))?
            .reshape((n * n_columns, n_heads * width))?;
        look_up(&attended, self.place_of_row.clone())
    }
}

/// Returns what is added to the logits of the last rows of a sequence, `[n_rows, n_seen]`: 0 for
/// the token itself and those before it, minus infinity for those after it.
pub(super) fn not_later(n_rows: usize, n_seen: usize, device: &Device) -> TensorResult<Tensor> {
    let first = n_seen - n_rows;
    let added = (0..n_rows).flat_map(|row| {
        (0..n_seen).map(move |at| if at <= first + row { 0.0_f32 } else { f32::NEG_INFINITY })
    });
    Tensor::from_vec(added.collect(), (n_rows, n_seen), device)
}

fn narrow(position: usize) -> u32 {
    u32::try_from(position).expect("a batch has fewer than 2^32 places")
}

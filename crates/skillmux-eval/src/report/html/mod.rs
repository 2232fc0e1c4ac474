//! The report as one HTML page that needs nothing else: no script, no font, no image, no network.
//!
//! What is on the page is a list of [`Section`](block::Section)s; how it is written is in the
//! folder `templates`. Templates escape every text that they are not told to take as it is.

mod block;
mod escape;
mod figure;
mod page;
mod score_table;
mod style;

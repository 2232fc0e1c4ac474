//! Tests through the public interface.

mod reference;

//! The scenario file: text in, a checked scenario out.

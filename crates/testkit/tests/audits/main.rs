//! Real results files through the reader and the audit, held against published numbers.

mod brady;
mod file;

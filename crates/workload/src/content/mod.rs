//! What requests hold and what answers mean: templates, data, extraction, checks.

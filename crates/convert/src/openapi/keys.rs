//! Which keys of a document are read, and which are passed over since they send nothing. Any other is reported.

/// The keys of one kind of object.
pub(super) struct Keys {
    /// What the conversion looks at.
    read: &'static [&'static str],
    /// What is for people, or about responses.
    passed: &'static [&'static str],
}

impl Keys {
    /// Whether it is known; extensions (`x-`) are passed over.
    pub(super) fn has(&self, key: &str) -> bool {
        self.read.contains(&key) || self.passed.contains(&key) || key.starts_with("x-")
    }
}

pub(super) const PATH_ITEM: Keys = Keys {
    read: &[
        "parameters",
        "get",
        "put",
        "post",
        "delete",
        "options",
        "head",
        "patch",
        "trace",
        "query",
        "additionalOperations",
        "$ref",
    ],
    passed: &["summary", "description"],
};

pub(super) const OPERATION: Keys = Keys {
    read: &["parameters", "requestBody", "responses", "security", "deprecated"],
    passed: &["tags", "summary", "description", "externalDocs", "operationId"],
};

pub(super) const PARAMETER: Keys = Keys {
    read: &["name", "in", "required", "schema", "content", "style", "explode", "example", "examples"],
    passed: &["description", "deprecated", "allowEmptyValue", "summary", "$ref"],
};

pub(super) const BODY: Keys =
    Keys { read: &["content"], passed: &["description", "required", "summary", "$ref"] };

pub(super) const MEDIA: Keys = Keys { read: &["schema", "example", "examples"], passed: &[] };

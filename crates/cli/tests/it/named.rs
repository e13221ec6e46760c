//! Which targets are files.

use headway_cli::settings::is_named;
use std::fs;

#[test]
fn a_file_is_no_host_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bars");
    assert!(!is_named(path.to_str().unwrap()));
    fs::write(&path, "journey: [ { get: / } ]\n").unwrap();
    assert!(is_named(path.to_str().unwrap()));
    // A folder is refused as what it is.
    assert!(is_named(folder.path().to_str().unwrap()));
    for (text, file) in
        [("gone.yaml", true), ("./a/b.yml", true), ("http://h/x.yaml", false), ("localhost:8080", false)]
    {
        assert_eq!(is_named(text), file, "{text}");
    }
}

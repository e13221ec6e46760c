//! What `headway --version` says: the version, the commit it was built from, the target and the features.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let var = |name: &str| env::var(name).unwrap_or_default();
    let commit = commit(Path::new(&var("CARGO_MANIFEST_DIR"))).unwrap_or_else(|| "unknown".to_owned());
    // All of Cargo.toml but the name for all of them.
    let named = |(name, _): (String, String)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase());
    let mut on: Vec<String> =
        env::vars().filter_map(named).filter(|name| !["full", "default"].contains(&name.as_str())).collect();
    on.sort();
    let features = if on.is_empty() { "none".to_owned() } else { on.join(" ") };
    let (version, target) = (var("CARGO_PKG_VERSION"), var("TARGET"));
    println!(
        "cargo:rustc-env=HEADWAY_VERSION={version} (commit {commit}, target {target}, features: {features})"
    );
}

/// The commit of the repository two folders above; none without git, or if the sources lie in another repository.
fn commit(crate_folder: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let out = Command::new("git").arg("-C").arg(crate_folder).args(arguments).output().ok()?;
        let text = String::from_utf8(out.stdout).ok()?.trim().to_owned();
        (out.status.success() && !text.is_empty()).then_some(text)
    };
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != crate_folder.parent()?.parent()?.canonicalize().ok()? {
        return None;
    }
    // It changes with every commit and checkout.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

//! Dot segments of paths, which no client sends as they are written (RFC 3986, 5.2.4): `/a/../b` is `/b`, in a scenario as in the URL of a
//! run. A value in a path is a segment or a part of one, whatever it holds.

/// The path without its dot segments; none if it has none. A whole URL keeps what stands before its path.
pub(super) fn without(path: &str) -> Option<String> {
    let from = match path.find("://") {
        Some(at) if !path[..at].contains(['/', '?', '#', '{']) => {
            let rest = &path[at + 3..];
            at + 3 + rest.find(['/', '?', '#'])?
        }
        _ => 0,
    };
    let (before, rest) = path.split_at(from);
    let (rest, after) = rest.split_at(end(rest));
    let segments = segments(rest.strip_prefix('/')?);
    let last = segments.len().checked_sub(1)?;
    let mut kept: Vec<&str> = Vec::new();
    let mut changed = false;
    for (at, segment) in segments.into_iter().enumerate() {
        let dots = dots(segment);
        changed |= dots > 0;
        if dots == 2 {
            kept.pop();
        }
        if dots == 0 || at == last {
            kept.push(if dots == 0 { segment } else { "" });
        }
    }
    changed.then(|| format!("{before}/{}{after}", kept.join("/")))
}

/// How many dots a segment is, written as they are or percent-encoded; 0: it is none.
fn dots(segment: &str) -> usize {
    match segment.to_ascii_lowercase().replace("%2e", ".").as_str() {
        "." => 1,
        ".." => 2,
        _ => 0,
    }
}

/// The length of a path before its query and fragment. What stands in a template is neither.
fn end(path: &str) -> usize {
    outside(path).find(|(_, c)| matches!(c, '?' | '#')).map_or(path.len(), |(at, _)| at)
}

/// What stands between slashes outside of templates.
fn segments(path: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut from = 0;
    for (at, _) in outside(path).filter(|(_, c)| *c == '/') {
        all.push(&path[from..at]);
        from = at + 1;
    }
    all.push(&path[from..]);
    all
}

/// The characters outside of `{{...}}`, with their places.
fn outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut until = 0;
    text.char_indices().filter(move |&(at, _)| {
        if at >= until && text[at..].starts_with("{{") {
            until = text[at..].find("}}").map_or(text.len(), |length| at + length + 2);
        }
        at >= until
    })
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn dot_segments_are_taken_out_as_in_urls() {
        for path in [
            "/a/../b",
            "/a/./b/",
            "/a/b/..",
            "/a/b/.",
            "/../a",
            "/a/%2E%2e/b",
            "/.",
            "/a/..?x=/../y",
            "/a/../../b/c",
        ] {
            let url = url::Url::parse(&format!("http://h{path}")).unwrap();
            let expected = url.as_str().strip_prefix("http://h").unwrap();
            assert_eq!(without(path).as_deref(), Some(expected), "{path}");
        }
        for path in
            ["/a/b", "/", "/a..b/.c", "/a?x=/../y", "{{link}}", "*", "/{{a.b}}/c", "/a/..{{x}}", "http://h"]
        {
            assert_eq!(without(path), None, "{path}");
        }
        assert_eq!(without("https://h:1/a/../b?c=..").as_deref(), Some("https://h:1/b?c=.."));
        assert_eq!(without("/a/{{vars.x}}/../b/{{y}}").as_deref(), Some("/a/b/{{y}}"));
    }
}

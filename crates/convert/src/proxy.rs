//! Variables of the environment that name a proxy, which other tools obey and Headway does not.

use headway_workload::Target;
use headway_workload::target::Endpoint;

/// The variable that names a proxy which is not used; none where no proxy is named for that target, or NO_PROXY excepts it. `env`
/// gives the value of a variable, which is not shown, since it may hold a password.
pub fn passed_over(target: &Target, env: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let Endpoint::Tcp { host, .. } = &target.endpoint else { return None };
    let set = |names: &[&'static str]| {
        names.iter().copied().find(|name| env(name).is_some_and(|value| !value.trim().is_empty()))
    };
    if !target.scheme.is_http() {
        return None;
    }
    let name = match target.tls() {
        true => set(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
        false => set(&["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]),
    }?;
    let excepted = set(&["no_proxy", "NO_PROXY"]).and_then(env).is_some_and(|list| covers(&list, host));
    (!excepted).then_some(name)
}

/// Whether a list of NO_PROXY holds a host: by name, by a domain that it ends in, or `*`.
fn covers(list: &str, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    list.split([',', ' ']).map(|entry| entry.trim().to_ascii_lowercase()).filter(|e| !e.is_empty()).any(
        |entry| {
            let domain = entry.trim_start_matches("*.").trim_start_matches('.');
            let domain = domain.trim_matches(['[', ']']);
            entry == "*" || host == domain || host.ends_with(&format!(".{domain}"))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(url: &str, set: &[(&str, &str)]) -> Option<&'static str> {
        let env =
            |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        passed_over(&Target::parse(url).unwrap(), env)
    }

    #[test]
    fn a_proxy_for_the_target_is_named_without_its_value() {
        assert_eq!(named("http://h:81/", &[("HTTP_PROXY", "http://me:pw@p")]), Some("HTTP_PROXY"));
        assert_eq!(named("https://h/", &[("all_proxy", "p")]), Some("all_proxy"));
    }

    #[test]
    fn none_is_named_that_would_not_be_used() {
        for (url, set) in [
            ("http://h/", &[][..]),
            ("http://h/", &[("HTTPS_PROXY", "p")]),
            ("https://h/", &[("http_proxy", "p")]),
            ("http://h/", &[("http_proxy", "")]),
            ("http://127.0.0.1:8080/", &[("http_proxy", "p"), ("NO_PROXY", "localhost, 127.0.0.1")]),
            ("http://a.example.org/", &[("http_proxy", "p"), ("no_proxy", ".example.org")]),
            ("http://h/", &[("ALL_PROXY", "p"), ("no_proxy", "*")]),
            ("unix:/run/a.sock", &[("http_proxy", "p")]),
        ] {
            assert_eq!(named(url, set), None, "{url} {set:?}");
        }
        assert!(named("http://bexample.org/", &[("http_proxy", "p"), ("no_proxy", "example.org")]).is_some());
    }
}

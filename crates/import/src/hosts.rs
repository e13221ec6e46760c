//! Hosts in the names of threads: JMeter, distributed over several machines, writes `HOST-Thread Group 1-7`.
//!
//! A group may have a dash in its own name, and then `web-shop 1-7` names no host. A prefix is one if it is written like an
//! address, or if the same groups and threads stand behind another prefix too: every machine plays the same plan.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// Names by which hosts are found; those of further users are looked up among what was found.
const LOOKED_AT: usize = 100_000;
/// Share of a prefix's threads that must stand behind another prefix too.
const SHARED: f64 = 0.5;

/// Hosts, and which user is on which.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosts {
    /// Their names.
    pub names: Vec<String>,
    /// Number of the host of each user, by the user's number; none of a name without a host.
    pub of: Vec<Option<u16>>,
}

/// The hosts that the names of threads begin with; none where fewer than two do.
pub fn of_threads(threads: &[String]) -> Option<Hosts> {
    let looked_at = &threads[..threads.len().min(LOOKED_AT)];
    let mut behind: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (host, thread) in looked_at.iter().flat_map(|name| splits(name)) {
        behind.entry(thread).or_default().insert(host);
    }
    // Threads of each prefix, and those of them that another prefix has too.
    let mut prefixes: HashMap<&str, (usize, usize)> = HashMap::new();
    for hosts in behind.values() {
        for host in hosts {
            let (all, shared) = prefixes.entry(*host).or_default();
            *all += 1;
            *shared += usize::from(hosts.len() > 1);
        }
    }
    let is_host = |host: &str| {
        is_address(host)
            || prefixes.get(host).is_some_and(|&(all, shared)| shared as f64 >= SHARED * all as f64)
    };
    let mut numbers: HashMap<&str, u16> = HashMap::new();
    let mut names = Vec::new();
    let of = threads.iter().map(|name| {
        let (host, _) = splits(name).find(|(host, _)| is_host(host))?;
        if let Some(&number) = numbers.get(host) {
            return Some(number);
        }
        let number = u16::try_from(names.len()).ok()?;
        names.push(host.to_owned());
        numbers.insert(host, number);
        Some(number)
    });
    let of = of.collect();
    (names.len() > 1).then_some(Hosts { names, of })
}

/// Every way to cut a name into a host and `GROUP n-m`, the shortest host first.
fn splits(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let cuts = name.match_indices('-').map(|(at, _)| (&name[..at], &name[at + 1..]));
    cuts.filter(|(host, thread)| !host.is_empty() && is_thread(thread))
}

/// Whether it is `GROUP n-m`.
fn is_thread(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some((group, thread)) = name.rsplit_once('-') else { return false };
    let Some((name, group)) = group.rsplit_once(' ') else { return false };
    digits(thread) && digits(group) && !name.is_empty()
}

/// Whether it is written like an address, with a port perhaps.
fn is_address(host: &str) -> bool {
    let port = |text: &str| text.parse::<u16>().is_ok();
    let bare = host.rsplit_once(':').filter(|(_, after)| port(after)).map_or(host, |(before, _)| before);
    let address = bare.trim_start_matches('[').trim_end_matches(']');
    host.parse::<IpAddr>().is_ok()
        || address.parse::<IpAddr>().is_ok()
        || bare == "localhost"
        || bare.len() < host.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(names: &[&str]) -> Option<(Vec<String>, Vec<Option<u16>>)> {
        let names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
        of_threads(&names).map(|hosts| (hosts.names, hosts.of))
    }

    #[test]
    fn hosts_before_the_same_groups_are_found() {
        let found = hosts(&[
            "load-gen-1-Thread Group 1-1",
            "load-gen-1-Thread Group 1-2",
            "load-gen-2-Thread Group 1-1",
            "load-gen-2-Thread Group 1-2",
            "setUp 1-1",
        ]);
        let names = vec!["load-gen-1".to_owned(), "load-gen-2".to_owned()];
        assert_eq!(found, Some((names, vec![Some(0), Some(0), Some(1), Some(1), None])));
    }

    #[test]
    fn addresses_are_hosts_whatever_stands_behind_them() {
        for (one, two) in [
            ("10.0.0.5", "10.0.0.6"),
            ("10.0.0.5:1099", "10.0.0.6:1099"),
            ("[::1]:1099", "fe80::2"),
            ("north.example:1099", "localhost"),
        ] {
            let found = hosts(&[&format!("{one}-web-shop 1-1"), &format!("{two}-Users 1-2")]);
            assert_eq!(found, Some((vec![one.to_owned(), two.to_owned()], vec![Some(0), Some(1)])));
        }
    }

    #[test]
    fn a_dash_in_the_name_of_a_group_is_no_host() {
        assert_eq!(hosts(&["web-shop 1-1", "web-shop 1-2", "api-shop 2-1", "api-shop 2-2"]), None);
        assert_eq!(hosts(&["Thread Group 1-1", "Thread Group 1-2", "", "-", "a-1", "vu-3"]), None);
        // One machine alone is no several.
        assert_eq!(hosts(&["10.0.0.5-Thread Group 1-1", "10.0.0.5-Thread Group 1-2"]), None);
    }
}

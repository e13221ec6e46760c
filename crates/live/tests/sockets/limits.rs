//! When this machine itself has nothing left: in processes of their own, so that no other test suffers.

use crate::harness::{Load, guarded};
use crate::scripted::{Scripted, read_to_end};
use headway_base::Outcome;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::process::Command;

/// Says that this process is such a child.
const CHILD: &str = "HEADWAY_TEST_CHILD";

/// Runs an ignored test of this binary, alone, under `wrapper` if there is one.
fn alone(wrapper: &[&str], test: &'static str) {
    let program = std::env::current_exe().unwrap();
    let mut command = match wrapper {
        [] => Command::new(program),
        [wrapper, arguments @ ..] => {
            let mut command = Command::new(wrapper);
            command.args(arguments).arg(program);
            command
        }
    };
    command.args(["--exact", test, "--ignored", "--test-threads=1"]).env(CHILD, "1");
    let output = guarded(move || command.output().unwrap());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{:?}", output.stderr);
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn without_descriptors_it_is_our_limit() {
    alone(&[], "limits::child_without_descriptors");
}

#[test]
#[ignore = "lowers the limit of its process: run by without_descriptors_it_is_our_limit"]
fn child_without_descriptors() {
    if !is_child() {
        return;
    }
    // The kernel completes connections that nobody accepts; they keep their descriptors until they time out.
    let target = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = headway_live::Address::Tcp(target.local_addr().unwrap());
    let in_use = fs::read_dir("/proc/self/fd").unwrap().count() as u64;
    // The reactor needs two.
    let limit = in_use + 2 + 6;
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(limit), maximum }).unwrap();
    let ran = guarded(move || Load::default().patience(1_000).run(&address));
    let outcomes = ran.outcomes();
    let local = outcomes.get(&Outcome::LocalLimit).copied().unwrap_or(0);
    let waiting = outcomes.get(&Outcome::Timeout).copied().unwrap_or(0);
    assert!(waiting <= 8 && waiting > 0, "{outcomes:?}");
    assert_eq!(local + waiting, ran.records.len(), "{outcomes:?}");
    ran.says("LocalLimit").says("too many open files");
}

#[test]
fn without_ports_it_is_our_limit() {
    let allowed = Command::new("unshare").args(["-n", "ip", "link", "set", "lo", "up"]).output();
    if !allowed.is_ok_and(|o| o.status.success()) {
        println!("skipped: no network namespace can be made here (that takes root, unshare and ip)");
        return;
    }
    alone(&["unshare", "-n"], "limits::child_without_ports");
}

#[test]
#[ignore = "needs a network namespace of its own: run by without_ports_it_is_our_limit"]
fn child_without_ports() {
    if !is_child() {
        return;
    }
    assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap().success());
    let target = Scripted::new(|_, mut stream| read_to_end(&mut stream));
    fs::write("/proc/sys/net/ipv4/ip_local_port_range", "61000 61003").unwrap();
    let address = target.address.clone();
    let ran = guarded(move || Load::default().patience(1_000).run(&address));
    // Its own end wakes it by connecting, which takes a port.
    fs::write("/proc/sys/net/ipv4/ip_local_port_range", "32768 60999").unwrap();
    let outcomes = ran.outcomes();
    assert_eq!(outcomes.get(&Outcome::Timeout), Some(&4), "{outcomes:?}");
    assert_eq!(outcomes.get(&Outcome::LocalLimit), Some(&(ran.records.len() - 4)), "{outcomes:?}");
}

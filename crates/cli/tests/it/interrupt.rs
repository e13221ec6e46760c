//! The second Ctrl-C ends the process, whatever hangs.

use headway_cli::{exit, interrupt};
use headway_live::Control;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Tells this program that it is the child that hangs.
const CHILD: &str = "HEADWAY_TEST_CHILD_HANGS";

fn signal(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// Its end, if that comes within so long.
fn ended(child: &mut Child, within: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < within {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// In the parent nothing; in the child what never ends: a thread that heeds nothing and has standard error to itself.
#[test]
#[expect(clippy::disallowed_methods, reason = "it writes nothing there, and keeps others from it")]
fn child_that_hangs() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    interrupt::steer(&Control::default()).unwrap();
    let _nobody_else_writes = std::io::stderr().lock();
    let mut out = std::io::stdout();
    writeln!(out, "\nready").and_then(|()| out.flush()).unwrap();
    loop {
        std::hint::spin_loop();
    }
}

#[test]
fn the_second_ctrl_c_ends_a_process_that_hangs_within_a_second() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "interrupt::child_that_hangs", "--nocapture"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"));
    signal(&child);
    let first = ended(&mut child, Duration::from_millis(1_500));
    signal(&child);
    let second = ended(&mut child, Duration::from_secs(1));
    let _ = child.kill();
    let _ = child.wait();
    assert_eq!(first, None, "after the first it waits for responses");
    let second = second.expect("it ends within a second after the second");
    assert_eq!(second.code(), Some(i32::from(exit::INTERRUPTED)));
}

//! Loops of idle priority, one on each core: cores that do not halt wake their sleepers at once.
//!
//! They get the processor time which no other thread wants, by SCHED_IDLE. Between sessions the scheduler shares a core by session, whatever the
//! priorities within (autogroup, sched(7)): so the loops have a session of their own, at nice 19. A session takes a process:
//! a helper is forked before the run, while this one is small, and waits on a socket. A byte starts the loops; the end of
//! the socket, which comes with this process's end however it ends, ends them.

#![expect(unsafe_code, reason = "fork, and what may be called after it, have no safe wrappers")]

use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use std::io;
use std::time::{Duration, Instant};

/// How long the loops may take to say that they run, or to end.
const PATIENCE: Duration = Duration::from_millis(500);
/// The scheduler allows ordinary users one change of an autogroup's niceness in a tenth of a second, over all of them.
const NICE_TRIES: u32 = 10;

/// The helper process that has the loops, or will have.
#[derive(Debug)]
pub(super) struct Loops {
    helper: libc::pid_t,
    link: OwnedFd,
}

impl Loops {
    /// Forks the helper; no loop runs yet.
    ///
    /// # Errors
    /// The system gives no process or socket.
    pub(super) fn prepare() -> io::Result<Loops> {
        let flags = SocketFlags::CLOEXEC;
        let (link, theirs) = net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let allowed = rustix::thread::sched_getaffinity(None)?;
        let cores: Vec<usize> =
            (0..rustix::thread::CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
        // SAFETY: the child runs `help` alone, which neither allocates nor takes a lock that another thread may have held:
        // it makes system calls on what was made before the fork, and never returns.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => help(theirs.as_raw_fd(), &cores),
            helper => Ok(Loops { helper, link }),
        }
    }

    /// Starts the loops.
    pub(super) fn start(&self) {
        // If the helper is gone there are no loops, as `running` will find.
        let _ = net::send(&self.link, &[1], net::SendFlags::NOSIGNAL | net::SendFlags::DONTWAIT);
    }

    /// On how many cores loops run, if they do.
    pub(super) fn running(&self) -> Option<u32> {
        let mut cores = [0; 4];
        let flags = net::RecvFlags::PEEK | net::RecvFlags::DONTWAIT;
        let (_, got) = net::recv(&self.link, &mut cores[..], flags).ok()?;
        (got == cores.len()).then(|| u32::from_ne_bytes(cores))
    }

    #[cfg(test)]
    pub(super) fn helper(&self) -> u32 {
        self.helper as u32
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        let _ = net::shutdown(&self.link, net::Shutdown::Both);
        let end = Instant::now() + PATIENCE;
        loop {
            // SAFETY: waits for our own child, whose number stays its own until it is waited for; no status is written.
            let ended = unsafe { libc::waitpid(self.helper, std::ptr::null_mut(), libc::WNOHANG) };
            if ended != 0 {
                return;
            }
            if Instant::now() > end {
                // SAFETY: as above; its loops end with it.
                unsafe {
                    libc::kill(self.helper, libc::SIGKILL);
                    libc::waitpid(self.helper, std::ptr::null_mut(), 0);
                }
                return;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// The helper's life: waits for the byte, has the loops made, waits for the end, and ends them.
fn help(link: libc::c_int, cores: &[usize]) -> ! {
    // SAFETY: all of these are system calls on numbers, on constants, and on locals that outlive them; none of them
    // allocates. The descriptors that are closed are this process's copies, which nothing here uses.
    unsafe {
        // A key pressed in the terminal is meant for the run, which ends this one by closing the link.
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::prctl(libc::PR_SET_NAME, c"headway-awake".as_ptr());
        // Loops whose leader is gone become this one's children, so that none stays behind as a zombie.
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        // A reader which waits for the end of one of our pipes must not wait for this process.
        if libc::dup2(link, 0) != 0 || libc::syscall(libc::SYS_close_range, 1, libc::c_uint::MAX, 0) != 0 {
            libc::_exit(1);
        }
        let mut byte = 0u8;
        if libc::read(0, (&raw mut byte).cast(), 1) != 1 {
            libc::_exit(0);
        }
        let helper = libc::getpid();
        let leader = libc::fork();
        match leader {
            -1 => libc::_exit(1),
            0 => lead(helper, cores),
            leader => {
                // Nothing more is sent: this waits for the end.
                libc::read(0, (&raw mut byte).cast(), 1);
                // The session's processes are one group, of its leader's number; alone if it had no time to make it.
                libc::kill(leader, libc::SIGKILL);
                libc::kill(-leader, libc::SIGKILL);
                while libc::waitpid(-1, std::ptr::null_mut(), 0) > 0 {}
                libc::_exit(0)
            }
        }
    }
}

/// The first loop: makes the session, lowers it, makes the others, says how many there are, and loops on the first core.
fn lead(helper: libc::pid_t, cores: &[usize]) -> ! {
    // SAFETY: as in `help`, in a process with one thread.
    unsafe {
        dies_with(helper);
        let param = libc::sched_param { sched_priority: 0 };
        let lowered = libc::setsid() != -1
            && lower_session()
            && libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const param) == 0;
        let Some((&first, others)) = cores.split_first().filter(|_| lowered) else { libc::_exit(1) };
        let leader = libc::getpid();
        let mut running = 1u32;
        for &core in others {
            match libc::fork() {
                -1 => {}
                0 => {
                    libc::close(0);
                    dies_with(leader);
                    turn(core)
                }
                _ => running += 1,
            }
        }
        let said = running.to_ne_bytes();
        libc::write(0, said.as_ptr().cast(), said.len());
        libc::close(0);
        turn(first)
    }
}

/// Ends this process when its parent ends, even if the parent is killed.
///
/// # Safety
/// As in `help`: system calls only.
unsafe fn dies_with(parent: libc::pid_t) {
    // SAFETY: system calls on numbers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // It may have ended before.
        if libc::getppid() != parent {
            libc::_exit(1);
        }
    }
}

/// Gives this session the least share of the processors that sessions can have; false where that is refused. Where the
/// scheduler has no sessions there is nothing to lower.
///
/// # Safety
/// As in `help`: system calls only.
unsafe fn lower_session() -> bool {
    // SAFETY: system calls on constants, and on a local that outlives them.
    unsafe {
        let enabled = libc::open(c"/proc/sys/kernel/sched_autogroup_enabled".as_ptr(), libc::O_RDONLY);
        let mut digit = b'0';
        if enabled == -1 || libc::read(enabled, (&raw mut digit).cast(), 1) != 1 || digit == b'0' {
            return true;
        }
        let group = libc::open(c"/proc/self/autogroup".as_ptr(), libc::O_WRONLY);
        for _ in 0..NICE_TRIES {
            if libc::write(group, c"19".as_ptr().cast(), 2) == 2 {
                libc::close(enabled);
                libc::close(group);
                return true;
            }
            let pause = libc::timespec { tv_sec: 0, tv_nsec: 110_000_000 };
            libc::nanosleep(&raw const pause, std::ptr::null_mut());
        }
        false
    }
}

/// Turns on that core for good.
///
/// # Safety
/// As in `help`: system calls only.
unsafe fn turn(core: usize) -> ! {
    // SAFETY: a set of cores is plain bits, of which all zero is the empty set; `core` came out of such a set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
    loop {
        // PAUSE, or what the processor has for it: the other thread of the core, and the power bill, get most of it.
        std::hint::spin_loop();
    }
}

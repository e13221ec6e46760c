//! The destination of a sharded run: a place that all shards share, in which each writes its own results and merging finds them.
//!
//! It is a [`Store`] of named objects: a folder, local or shared ([`folder`]), or a bucket (`bucket`, a feature). What stands in it is in [`layout`]. There is no leader: who
//! comes first makes what all need, by creating it once. A shard takes its [`Seat`]
//! before it sends anything. Deliberately absent: the merge.

pub mod address;
#[cfg(feature = "bucket")]
pub(crate) mod bucket;
pub mod folder;
pub mod layout;
mod offset;
mod publish;
mod seat;

pub use address::Address;
pub use publish::Ending;
pub(crate) use publish::Publisher;
pub use seat::Seat;

use headway_base::Nanos;
use headway_live::Control;
use std::fmt::Debug;
use std::path::Path;
use thiserror::Error;

/// How long shards wait for each other at a barrier unless something else is asked for, and how long a merge waits after the last sign of
/// any where they have no common start yet.
pub const LONGEST_MEETING: Nanos = Nanos::from_secs(600);

/// Whether an object was made that was not to be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Put {
    /// It was made, complete.
    Made,
    /// There is one of that name, which stays as it was.
    Taken,
}

/// An object of a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name below the destination, parts separated by `/`.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// When it was last written by the store's clock, nanoseconds since the Unix epoch, rounded down to the store's
    /// [resolution](Store::resolution).
    pub modified_unix_ns: i128,
}

/// Requests to a store that failed, and were tried again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failures {
    /// How many.
    pub n: u64,
    /// What the last one met, secrets replaced.
    pub last: String,
}

/// What is wrong with a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// It does not let us: rights or credentials are missing or refused, or there is no such place. Trying again is of no use.
    Refused,
    /// It fails: trying again may help.
    Failed,
}

/// A store could not do what it was asked for.
#[derive(Debug, Error)]
#[error("{place} cannot be {doing}: {what}")]
pub struct StoreError {
    /// The object, secrets replaced.
    pub place: String,
    /// What was to be done with it: `read`, `written`, `listed`.
    pub doing: &'static str,
    /// Whether trying again may help.
    pub why: Why,
    /// What the store says.
    pub what: String,
}

/// A store that is waited for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The object, secrets replaced.
    pub place: String,
    /// What is to be done with it: `read`, `written`, `listed`.
    pub doing: &'static str,
    /// What the store said, if it said anything.
    pub what: Option<String>,
    /// How long it is waited for at most.
    pub left: Nanos,
}

/// What is called when a store begins to be waited for, on any thread.
pub type OnWait = fn(&Waiting);

/// Objects under names. Each appears complete or not at all, and several processes may use it at once.
///
/// A name is one or more parts separated by `/`.
pub trait Store: Debug + Send + Sync {
    /// What it is called in messages, secrets replaced.
    fn place(&self) -> String;

    /// Writes an object unless there is one of that name: of several that try at once, one makes it.
    ///
    /// A store may carry a request out and lose its response; a second try then finds the object taken. Who must know compares the bytes.
    ///
    /// # Errors
    /// The store refuses or fails; whether the object was made is then not known.
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<Put, StoreError>;

    /// Writes an object, in place of another if there is one.
    ///
    /// # Errors
    /// The store refuses or fails.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// The bytes of an object, if it is there.
    ///
    /// # Errors
    /// The store refuses or fails.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Size and time of an object, if it is there.
    ///
    /// # Errors
    /// The store refuses or fails.
    fn entry(&self, name: &str) -> Result<Option<Entry>, StoreError>;

    /// All objects whose names begin with `under` and `/`, or all there are if it is empty, in the order of their names. None if there is no such
    /// place.
    ///
    /// # Errors
    /// The store refuses or fails.
    fn list(&self, under: &str) -> Result<Vec<Entry>, StoreError>;

    /// Times of modification are rounded down to a multiple of this, or to less.
    fn resolution(&self) -> Nanos;

    /// How often a shard says how it stands. A merge that waits for shards goes by this too.
    fn interval(&self) -> Nanos;

    /// The folder that it is. None: files are published in it piece by piece, and fetched from it.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// From now on a second request to stop ends each wait for it, and `on_wait` is called when one begins.
    fn heed(&self, _: &Control, _: OnWait) {}

    /// The run is over: from now on all calls together are tried again for one patience, from now or from the last that went well.
    fn close(&self) {}

    /// What failed so far and was tried again within a call, if anything.
    fn failures(&self) -> Option<Failures> {
        None
    }
}

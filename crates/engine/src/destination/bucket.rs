//! A bucket as a store: S3 and what speaks like it, Google Cloud Storage, Azure Blob Storage, by the crate object_store.
//!
//! Credentials and endpoint come from the environment (`AWS_*`, `GOOGLE_*`, `AZURE_*`), never from an address. object_store signs and tries again; [`requests`]
//! carries its requests. Calls block, one at a time: what uses a store has a thread for that.

mod environment;
mod requests;

use super::{Entry, Failures, OnWait, Put, Store, StoreError, Waiting, Why};
use futures_util::TryStreamExt as _;
use headway_base::Nanos;
use headway_live::Control;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, Error, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, RetryConfig,
};
use requests::{Requests, Said};
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long a request is tried again while the store fails: longer than the minute that a store may be away.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often it is looked whether to wait longer.
const LOOKS: Duration = Duration::from_millis(100);
/// After how long a call that has no answer counts as one that waits.
const SLOW: Duration = Duration::from_secs(3);
/// The first wait before a request is tried again, and the longest.
const WAITS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];
/// How often a shard says how it stands: each object costs.
const INTERVAL: Nanos = Nanos::from_secs(10);
/// Stamps of objects over HTTP are whole seconds.
const RESOLUTION: Nanos = Nanos::from_secs(1);

/// A bucket as a store, below a prefix.
#[derive(Debug)]
pub(crate) struct Bucket {
    place: String,
    prefix: Path,
    store: Box<dyn ObjectStore>,
    runtime: Mutex<Runtime>,
    requests: Requests,
    waits: Mutex<Waits>,
    /// [`PATIENCE`], unless a test has less.
    patience: Duration,
    /// [`SLOW`], unless a test has less.
    slow: Duration,
}

/// How long this process waits for its store.
#[derive(Debug, Default)]
struct Waits {
    /// What ends a wait.
    control: Control,
    /// What is called when one begins.
    on_wait: Option<OnWait>,
    /// Since when the run is over.
    closing: Option<Instant>,
    /// Whether the wait was announced since the last request that succeeded.
    told: bool,
}

/// Why a call is given up.
const INTERRUPTED: &str = "interrupted";

impl Bucket {
    /// The bucket of that name at that provider (`s3`, `gs` or `az`), and the prefix in it. Nothing is read or written.
    ///
    /// # Errors
    /// The prefix cannot be part of a name, or a variable of the environment cannot be used.
    pub(super) fn open(scheme: &str, name: &str, prefix: &str) -> anyhow::Result<Bucket> {
        let requests = Requests::new(scheme, environment::read(scheme, std::env::vars_os())?);
        let retry = RetryConfig {
            backoff: BackoffConfig { init_backoff: WAITS[0], max_backoff: WAITS[1], base: 2.0 },
            max_retries: usize::MAX,
            retry_timeout: PATIENCE,
        };
        // By it requests to a metadata service are told from others: it is not the user's to set.
        let (key, connect) = (ClientConfigKey::ConnectTimeout, format!("{}s", requests::CONNECT.as_secs()));
        let store: Box<dyn ObjectStore> = match scheme {
            "gs" => Box::new(
                GoogleCloudStorageBuilder::from_env()
                    .with_config(GoogleConfigKey::Client(key), connect)
                    .with_bucket_name(name)
                    .with_retry(retry)
                    .with_http_connector(requests.clone())
                    .build()?,
            ),
            "az" => Box::new(
                MicrosoftAzureBuilder::from_env()
                    .with_config(AzureConfigKey::Client(key), connect)
                    .with_container_name(name)
                    .with_retry(retry)
                    .with_http_connector(requests.clone())
                    .build()?,
            ),
            _ => Box::new(
                AmazonS3Builder::from_env()
                    .with_config(AmazonS3ConfigKey::Client(key), connect)
                    .with_bucket_name(name)
                    .with_retry(retry)
                    .with_http_connector(requests.clone())
                    .build()?,
            ),
        };
        let place = format!("{scheme}://{name}/{prefix}").trim_end_matches('/').to_owned();
        Bucket::over(store, place, prefix, requests)
    }

    fn over(
        store: Box<dyn ObjectStore>,
        place: String,
        prefix: &str,
        requests: Requests,
    ) -> anyhow::Result<Bucket> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let (prefix, runtime) = (Path::parse(prefix)?, Mutex::new(runtime));
        let (waits, patience, slow) = (Mutex::default(), PATIENCE, SLOW);
        Ok(Bucket { place, prefix, store, runtime, requests, waits, patience, slow })
    }

    /// The object of that name, or what is common to the names under it.
    fn path(&self, name: &str) -> Path {
        self.prefix.parts().chain(Path::from(name).parts()).collect()
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out a request about that object, and waits for its end. An error comes with what the store said last.
    fn ask<T>(
        &self,
        name: &str,
        doing: &'static str,
        asked: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, (Error, Said)> {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        self.requests.begin();
        let began = Instant::now();
        let done = runtime.block_on(async {
            let mut asked = std::pin::pin!(asked);
            loop {
                if let Ok(done) = tokio::time::timeout(LOOKS, &mut asked).await {
                    return Ok(done);
                }
                if let Some(why) = self.look(name, doing, began) {
                    return Err(why);
                }
            }
        });
        match done {
            Ok(done) => {
                self.waits().told &= done.is_err();
                done.map_err(|error| (error, self.requests.said()))
            }
            Err(why) => {
                let said = self.requests.said();
                let heard = if said.text.is_empty() { self.requests.failing() } else { Some(said.text) };
                let text = heard.map_or_else(|| why.to_owned(), |heard| format!("{heard}; {why}"));
                let error = Error::Generic { store: "store", source: why.into() };
                Err((error, Said { text, ..said }))
            }
        }
    }

    /// Says that the store is waited for, once it is; and why to wait no longer, if so.
    fn look(&self, name: &str, doing: &'static str, began: Instant) -> Option<&'static str> {
        let mut waits = self.waits();
        let failing = self.requests.failing();
        let slow = began.elapsed() >= self.slow;
        if waits.control.asked() >= 2 && (failing.is_some() || slow) {
            return Some(INTERRUPTED);
        }
        let since =
            waits.closing.map_or(began, |closing| closing.max(self.requests.success().unwrap_or(closing)));
        let left = self.patience.saturating_sub(since.elapsed());
        if waits.closing.is_some() && left.is_zero() {
            return Some("given up");
        }
        if !waits.told && (slow || waits.closing.is_some() && failing.is_some()) {
            waits.told = true;
            let place = if name.is_empty() { self.place.clone() } else { format!("{}/{name}", self.place) };
            let left = Nanos::from_secs(left.as_secs() as i64);
            if let Some(on_wait) = waits.on_wait {
                on_wait(&Waiting { place, doing, what: failing, left });
            }
        }
        None
    }

    fn failed(&self, name: &str, doing: &'static str, error: &Error, said: Said) -> StoreError {
        let refuses = matches!(
            error,
            Error::NotFound { .. }
                | Error::PermissionDenied { .. }
                | Error::Unauthenticated { .. }
                | Error::NotSupported { .. }
                | Error::NotImplemented { .. }
        );
        let why = if refuses || said.refused { Why::Refused } else { Why::Failed };
        let mut what = if said.text.is_empty() { error.to_string() } else { said.text };
        if said.tries > 1 {
            what += &format!(" (tried {} times)", said.tries);
        }
        let place = if name.is_empty() { self.place.clone() } else { format!("{}/{name}", self.place) };
        StoreError { place, doing, why, what }
    }

    /// What there is, if there is anything: the bucket is there at least.
    fn found<T>(&self, name: &str, result: Result<T, (Error, Said)>) -> Result<Option<T>, StoreError> {
        match result {
            Ok(found) => Ok(Some(found)),
            Err((Error::NotFound { .. }, said)) if !said.lacks_bucket => Ok(None),
            Err((error, said)) => Err(self.failed(name, "read", &error, said)),
        }
    }

    fn entry_of(&self, meta: &ObjectMeta) -> Option<Entry> {
        let name = meta.location.as_ref().strip_prefix(self.prefix.as_ref())?.strip_prefix('/')?;
        let modified = meta.last_modified;
        let modified_unix_ns =
            i128::from(modified.timestamp()) * 1_000_000_000 + i128::from(modified.timestamp_subsec_nanos());
        Some(Entry { name: name.to_owned(), size: meta.size, modified_unix_ns })
    }
}

impl Store for Bucket {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<Put, StoreError> {
        let path = self.path(name);
        match self.ask(
            name,
            "written",
            self.store.put_opts(&path, bytes.to_vec().into(), PutMode::Create.into()),
        ) {
            Ok(_) => Ok(Put::Made),
            Err((Error::AlreadyExists { .. }, _)) => Ok(Put::Taken),
            Err((error, said)) => Err(self.failed(name, "written", &error, said)),
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(name);
        let put = self.ask(name, "written", self.store.put(&path, bytes.to_vec().into()));
        put.map(drop).map_err(|(error, said)| self.failed(name, "written", &error, said))
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(name);
        let read = self.ask(name, "read", async { self.store.get(&path).await?.bytes().await });
        Ok(self.found(name, read)?.map(Into::into))
    }

    fn entry(&self, name: &str) -> Result<Option<Entry>, StoreError> {
        let path = self.path(name);
        // By GET: to HEAD a store says nothing of why it refuses. Only small documents are asked for.
        let found =
            self.found(name, self.ask(name, "read", async { Ok(self.store.get(&path).await?.meta) }))?;
        Ok(found.and_then(|meta| self.entry_of(&meta)))
    }

    fn list(&self, under: &str) -> Result<Vec<Entry>, StoreError> {
        let path = self.path(under);
        let listed = self.ask(under, "listed", self.store.list(Some(&path)).try_collect::<Vec<ObjectMeta>>());
        let listed = listed.map_err(|(error, said)| self.failed(under, "listed", &error, said))?;
        let mut all: Vec<Entry> = listed.iter().filter_map(|meta| self.entry_of(meta)).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    fn resolution(&self) -> Nanos {
        RESOLUTION
    }

    fn interval(&self) -> Nanos {
        INTERVAL
    }

    fn failures(&self) -> Option<Failures> {
        self.requests.failures()
    }

    fn heed(&self, control: &Control, on_wait: OnWait) {
        let mut waits = self.waits();
        (waits.control, waits.on_wait) = (control.clone(), Some(on_wait));
    }

    fn close(&self) {
        let mut waits = self.waits();
        (waits.closing, waits.told) = (Some(Instant::now()), false);
    }
}

#[cfg(test)]
impl Bucket {
    /// One in memory.
    pub(crate) fn in_memory() -> Bucket {
        let store = Box::new(object_store::memory::InMemory::new());
        Bucket::in_store(store)
    }

    fn in_store(store: Box<dyn ObjectStore>) -> Bucket {
        let requests = Requests::new("s3", environment::Environment::default());
        Bucket::over(store, "s3://memory/run".to_owned(), "run", requests).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;
    use object_store::throttle::{ThrottleConfig, ThrottledStore};
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A bucket that gives no answer to a write.
    fn mute(patience: Duration, slow: Duration) -> Bucket {
        let never =
            ThrottleConfig { wait_put_per_call: Duration::from_secs(3_600), ..ThrottleConfig::default() };
        Bucket { patience, slow, ..Bucket::in_store(Box::new(ThrottledStore::new(InMemory::new(), never))) }
    }

    #[test]
    fn once_the_run_is_over_a_dead_store_has_one_patience_for_all_calls() {
        let patience = Duration::from_millis(400);
        let store = mute(patience, Duration::from_secs(3_600));
        let closed = Instant::now();
        store.close();
        for name in ["0/parts/000001", "0/done.json"] {
            let told = store.put(name, b"").unwrap_err().to_string();
            assert_eq!(told, format!("s3://memory/run/{name} cannot be written: given up"));
            assert!(closed.elapsed() >= patience, "{:?}", closed.elapsed());
        }
        assert_eq!(store.list("").unwrap(), [], "nothing was written");
    }

    #[test]
    fn a_second_interrupt_ends_the_wait_for_a_dead_store_and_the_first_does_not() {
        let (hour, slow) = (Duration::from_secs(3_600), Duration::from_millis(300));
        let store = mute(hour, slow);
        let control = Control::default();
        store.heed(&control, |_| {});
        store.close();
        control.stop();
        let second = control.clone();
        let began = Instant::now();
        let later = std::thread::spawn(move || {
            std::thread::sleep(3 * slow);
            second.stop()
        });
        let told = store.put("0/done.json", b"").unwrap_err().to_string();
        assert_eq!(told, "s3://memory/run/0/done.json cannot be written: interrupted");
        assert!(began.elapsed() >= 3 * slow, "{:?}", began.elapsed());
        assert_eq!(later.join().unwrap(), 2);
    }

    #[test]
    fn a_wait_is_told_once_to_its_own_run_and_ends_when_that_is_asked_to_stop_twice() {
        static TOLD: AtomicU32 = AtomicU32::new(0);
        let (store, other, control) = (Bucket::in_memory(), Bucket::in_memory(), Control::default());
        store.heed(&control, |waiting| {
            assert_eq!((&*waiting.place, waiting.doing), ("s3://memory/run/0/a", "read"));
            TOLD.fetch_add(1, Ordering::SeqCst);
        });
        other.heed(&Control::default(), |_| panic!("its run does not wait"));
        let began = Instant::now().checked_sub(SLOW).unwrap();
        assert_eq!([(); 2].map(|()| store.look("0/a", "read", began)), [None; 2]);
        assert_eq!(TOLD.load(Ordering::SeqCst), 1);
        control.stop();
        assert_eq!(store.look("0/a", "read", began), None);
        control.stop();
        assert_eq!(store.look("0/a", "read", began), Some(INTERRUPTED));
    }

    #[test]
    fn objects_are_made_once_replaced_read_and_listed_below_the_prefix() {
        let store = Bucket::in_memory();
        assert_eq!(store.list("").unwrap(), [], "a place that is not there holds nothing");
        assert_eq!((store.get("0/a").unwrap(), store.entry("0/a").unwrap()), (None, None));
        assert_eq!(store.put_new("0/a", b"one").unwrap(), Put::Made);
        assert_eq!(store.put_new("0/a", b"two").unwrap(), Put::Taken);
        assert_eq!(store.get("0/a").unwrap().unwrap(), b"one");
        store.put("0/a", b"three").unwrap();
        store.put("run.json", b"").unwrap();
        store.put("10/a", b"").unwrap();
        let names = |under: &str| -> Vec<(String, u64)> {
            store.list(under).unwrap().into_iter().map(|entry| (entry.name, entry.size)).collect()
        };
        let all = [("0/a".to_owned(), 5), ("10/a".to_owned(), 0), ("run.json".to_owned(), 0)];
        assert_eq!(names(""), all);
        assert_eq!(names("0"), all[..1]);
        assert_eq!(names("1"), [], "a folder, and not what its name begins with");
        let entry = store.entry("0/a").unwrap().unwrap();
        assert_eq!(entry, store.list("0").unwrap()[0]);
        let age = headway_live::clock::unix_now() - entry.modified_unix_ns;
        assert!((0..60_000_000_000).contains(&age), "{age} ns");
        // Another run of that bucket is not this one.
        let path = Path::from("run2/0/a");
        store
            .ask("", "written", store.store.put(&path, b"another".to_vec().into()))
            .map_err(|(error, _)| error)
            .unwrap();
        assert_eq!(names(""), all);
    }
}

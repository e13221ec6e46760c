//! Why something could not be done: the caller asked for what cannot be, or it failed.

/// Why a run, a study or an audit gave no result. Either part shows its own text and its own causes.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for is wrong: a setting, a scenario, a file that was named.
    #[error(transparent)]
    Usage(anyhow::Error),
    /// It was right and could not be done: the target is unreachable, input or output failed.
    #[error(transparent)]
    Failed(anyhow::Error),
}

impl Error {
    /// What was asked for is wrong.
    pub fn usage(error: impl Into<anyhow::Error>) -> Error {
        Error::Usage(error.into())
    }

    /// It could not be done.
    pub fn failed(error: impl Into<anyhow::Error>) -> Error {
        Error::Failed(error.into())
    }
}

/// What fails on the way, unless said otherwise, could not be done.
macro_rules! failed {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::failed(error)
            }
        }
    )+};
}

failed!(anyhow::Error, std::io::Error, headway_records::Error);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_those_of_what_it_holds() {
        let inner = anyhow::anyhow!("no such file").context("x.csv");
        let shown = format!("{:#}", anyhow::Error::from(Error::usage(inner)).context("--out"));
        assert_eq!(shown, "--out: x.csv: no such file");
    }
}

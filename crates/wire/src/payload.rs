//! What a step sends: each protocol has its own kind.

use crate::dns::QuestionError;
use crate::request::{Request, RequestError};
use std::sync::Arc;

/// What a request holds.
#[derive(Clone, Debug)]
pub enum Payload {
    /// A request of HTTP, whatever its version.
    Http(Request),
    /// Bytes as they are: on a stream, or one datagram.
    Bytes(Arc<[u8]>),
}

impl Payload {
    /// The request of HTTP.
    ///
    /// # Errors
    /// It is of another kind.
    pub fn http(&self) -> Result<&Request, Unfit> {
        match self {
            Payload::Http(request) => Ok(request),
            Payload::Bytes(_) => Err(Unfit::NotHttp),
        }
    }

    /// The bytes.
    ///
    /// # Errors
    /// It is of another kind.
    pub fn bytes(&self) -> Result<&Arc<[u8]>, Unfit> {
        match self {
            Payload::Bytes(bytes) => Ok(bytes),
            Payload::Http(_) => Err(Unfit::NotBytes),
        }
    }
}

impl From<Request> for Payload {
    fn from(request: Request) -> Payload {
        Payload::Http(request)
    }
}

/// Why a protocol cannot send a payload.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unfit {
    /// HTTP, or this version of it, does not allow it.
    #[error(transparent)]
    Http(#[from] RequestError),
    /// The protocol is HTTP.
    #[error("the target speaks HTTP, and the step has no method and path")]
    NotHttp,
    /// The protocol sends bytes.
    #[error("the target takes plain bytes, and the step is a request of HTTP")]
    NotBytes,
    /// No question of DNS.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// Nothing to send on a stream.
    #[error("the step has no bytes to send")]
    Empty,
    /// Longer than a datagram can be.
    #[error("{bytes} bytes do not fit into a datagram, which takes at most {most}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest that would do.
        most: usize,
    },
    /// The number that answers are matched by does not fit into it.
    #[error(
        "the datagram has {bytes} bytes, and the number that its response is matched by ends at byte {end}: send at least {end} bytes, or write \
         match:OFFSET+WIDTH with a sum of at most {bytes}"
    )]
    NoRoom {
        /// Its length.
        bytes: usize,
        /// The shortest that would do.
        end: usize,
    },
    /// The number that responses are matched by fits into no datagram.
    #[error(
        "the number that responses are matched by ends at byte {end}, and a datagram has at most {most}: write match:OFFSET+WIDTH with a sum \
         of at most {most}"
    )]
    BeyondAll {
        /// Where it ends.
        end: usize,
        /// The longest datagram.
        most: usize,
    },
}

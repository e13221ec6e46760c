//! Loads in which answers decide what comes next, played through a station without a client: closed users, sessions that
//! arrive, fixed work.

mod closed;
mod estimate;
mod mixed;
mod play;
mod sessions;
mod steady;
mod work;

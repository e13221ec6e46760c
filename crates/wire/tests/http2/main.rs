//! The HTTP/2 halves from the outside: client against server over a pipe that cuts at random; peers that break the protocol,
//! in frames made by hand.

mod frames;
mod peers;
mod pipe;

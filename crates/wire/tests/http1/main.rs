//! The HTTP/1.1 halves from the outside: tables of answers and requests, cut at every byte; client against server over a
//! pipe that cuts at random; limits and garbage.

mod answers;
mod pipe;
mod requests;
mod told;

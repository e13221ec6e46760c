//! Scenario files from outside: what is read, and what a person sees who made a mistake.

mod common;
mod examples;

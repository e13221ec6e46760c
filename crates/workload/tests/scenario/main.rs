//! Scenario files from outside: what is read, and what a person sees who made a mistake.

mod anything;
mod common;
mod examples;
mod mistakes;
mod models;
mod overriding;
mod reading;
mod requests;
mod schema;

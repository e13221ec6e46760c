//! What the content of a request costs: rendering it and reading its answer, in nanoseconds per request.
//!
//! `cargo run --release -p headway-workload --example content_cost`. A report, not a test.

use headway_base::{Nanos, Outcome};
use headway_workload::content::{
    AtEnd, Body, BodyCheck, Data, Draft, Expect, Extract, Finder, Memory, Names, Pointer, RenderContext,
    Script, Step, Take, Template,
};
use headway_workload::{Request, RequestKey};
use std::hint::black_box;

type Failure = Box<dyn std::error::Error>;

#[expect(clippy::disallowed_types, reason = "a benchmark reads the clock")]
fn time(name: &str, mut work: impl FnMut(u64)) {
    let rounds = 200_000;
    let best = (0..9)
        .map(|_| {
            let start = std::time::Instant::now();
            (0..rounds).for_each(&mut work);
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    println!("{name:58} {:8.1} ns", best.as_nanos() as f64 / rounds as f64);
}

/// A path of two values, a header of one, JSON with three; a value taken from the answer, a text looked for in it.
fn typical() -> Result<Script, Failure> {
    let mut names = Names::new();
    let rows: String = (0..1000).map(|i| format!("{i},user {i}@example.org\n")).collect();
    let people = Data::csv("people", format!("id,mail\n{rows}").as_bytes(), Take::Random, AtEnd::Fail)?;
    names.data(&people)?;
    let id = names.extracted("id")?;
    let parse = |text| Template::parse(text, &names);
    let mut step = Step::new("add", "POST", &parse("/users/{{user.id}}/items/{{id}}?page=1")?)?;
    step.header("X-Request", &parse("request {{seq}}")?)?;
    let json = serde_json::json!({
        "name": "bar {{user.id}}", "mail": "{{data.people.mail}}", "item": "{{id}}", "tags": ["a", "b"]
    });
    step.body(Body::json(&json.into(), &names)?);
    step.extract(Extract::new(id, Finder::json(Pointer::parse("/items/0/id")?)));
    step.expect(Expect { body: vec![BodyCheck::contains("\"open\"")], ..Expect::default() })?;
    Ok(Script::new(vec![step], vec![people], names, &[11]).with_seed(7))
}

fn main() -> Result<(), Failure> {
    let script = typical()?;
    let plain = Script::single(&Request::get("/"));
    let filler = "x".repeat(190);
    let answer = format!(
        "{{\"state\":\"open\",\"total\":1,\"page\":{{\"at\":1,\"of\":7}},\"items\":[{{\"id\":\"it-4711\",\"name\":\"bar\"}}],\
         \"note\":\"{filler}\"}}"
    );
    println!("the answer's body has {} bytes", answer.len());
    let headers: [(&str, &[u8]); 4] = [
        ("Server", b"nginx/1.24.0"),
        ("Date", b"Mon, 01 Jan 2024 00:00:00 GMT"),
        ("Content-Type", b"application/json"),
        ("Connection", b"keep-alive"),
    ];
    let now_unix_ns = 1_704_067_200_123_456_789;
    let sending = |k| RequestKey { k, user: k, ordinal: 3, ..RequestKey::default() };

    let mut memory = Memory::default();
    let mut draft = Draft::new();
    let read = |script: &Script, sending: &RequestKey, memory: &mut Memory| {
        let visit = RenderContext { sending, now_unix_ns };
        let mut reader = script.reader(0);
        reader.head(script, 200, headers.iter().copied());
        if reader.wants_body() {
            reader.chunk(black_box(answer.as_bytes()));
        }
        let reading = script.finish(&visit, reader, memory, Nanos::from_millis(5));
        assert_eq!(reading.outcome, Outcome::Ok, "{:?}", reading.reason);
    };
    read(&script, &sending(0), &mut memory);

    time("typical: render", |k| {
        let visit = RenderContext { sending: &sending(k), now_unix_ns };
        assert!(script.render_into(&visit, &memory, &mut draft).is_ok());
        black_box(&draft);
    });
    time("typical: render as a request of its own", |k| {
        black_box(script.render(&RenderContext { sending: &sending(k), now_unix_ns }, &memory)).ok();
    });
    let mut other = memory.clone();
    time("typical: read", |k| read(&script, &sending(k), &mut other));
    time("typical: render and read", |k| {
        let sending = sending(k);
        let visit = RenderContext { sending: &sending, now_unix_ns };
        assert!(script.render_into(&visit, &memory, &mut draft).is_ok());
        black_box(&draft);
        read(&script, &sending, &mut memory);
    });
    let mut nothing = Memory::default();
    time("status only: read", |k| read(&plain, &sending(k), &mut nothing));
    Ok(())
}

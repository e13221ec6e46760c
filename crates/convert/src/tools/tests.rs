//! Names of options, what messages say of them, and translated commands.

use super::translate::{Translated, command};
use super::*;
use std::collections::HashSet;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn translated(line: &str) -> Translated {
    command(&[line.to_owned()]).unwrap_or_else(|error| panic!("{line}: {error:#}"))
}

fn error(line: &str) -> String {
    format!("{:#}", command(&[line.to_owned()]).expect_err(line))
}

#[test]
fn names_are_given_once_in_a_tool() {
    for tool in ALL {
        let (mut long, mut short) = (HashSet::new(), HashSet::new());
        for row in tool.rows() {
            assert!(!row.long.is_empty() || !row.short.is_empty(), "{}", tool.name);
            assert!(row.long.is_empty() || long.insert(row.long), "{} {}", tool.name, row.long);
            assert!(row.short.is_empty() || short.insert(row.short), "{} {}", tool.name, row.short);
            assert!(!row.about.is_empty(), "{} {}", tool.name, row.long);
            let one = row.short.chars().count() <= 1;
            assert!(one || tool.style == Style::Names, "{} {}", tool.name, row.short);
            let both = !row.short.is_empty() && !row.long.is_empty();
            assert!(tool.style != Style::Go || !both, "{} {}", tool.name, row.short);
        }
    }
}

/// Each row: in a command of its tool it is translated, or refused by its name with what is possible.
#[test]
fn every_option_is_translated_or_refused_by_name() {
    for tool in ALL {
        for row in tool.rows() {
            let line = example(tool, row);
            match (row.here(), command(&line)) {
                (Meaning::Cannot(why), Err(error)) => {
                    let text = format!("{error:#}");
                    let typed = tool.typed(row);
                    assert!(text.contains(&typed) && text.contains(why), "{line:?}: {text}");
                }
                (Meaning::Cannot(_), Ok(made)) => panic!("{line:?}: {}", made.line()),
                (_, Ok(made)) => assert_eq!(made.words[..2], ["headway", "run"], "{line:?}"),
                (_, Err(error)) => panic!("{line:?}: {error:#}"),
            }
        }
    }
}

/// Each row is named to one who gives it to `headway run`, whether or not the flag exists there.
#[test]
fn every_option_has_its_line_in_a_message() {
    for tool in ALL {
        for row in tool.rows() {
            let flag = tool.typed(row);
            let told = advice::unknown(&[flag.clone(), row.example.to_owned()], &flag).unwrap();
            let line = told.lines().find(|line| {
                line.starts_with("  ")
                    && line.contains(row.about)
                    && line.split("  ").nth(1).unwrap().split(", ").any(|name| name == tool.name)
            });
            assert!(line.is_some(), "{} {flag}: {told}", tool.name);
        }
    }
}

#[test]
fn a_flag_with_several_meanings_has_a_line_for_each() {
    let told = advice::unknown(&words("http://h -t 4"), "-t").unwrap();
    let expected = "-t is no flag of headway run. It is one of other tools:\n  \
        wrk, wrk2, h2load   threads: leave it out: Headway chooses its worker threads (--threads N sets them)\n  \
        hey, oha            how long a response may take: --timeout 4s\n  \
        ab, fortio, locust  the length of the run: -d 4s\n";
    assert!(told.contains("threads: leave it out"), "{told}");
    for line in expected.lines() {
        assert!(told.contains(line.trim()), "{line}\n{told}");
    }
    assert!(told.contains("k6 ") && told.contains("jmeter "), "{told}");
    assert_eq!(advice::unknown(&words("http://h --no-such"), "--no-such"), None);
}

#[test]
fn options_with_one_dash_are_known_whole() {
    let told = advice::unknown(&words("http://h -rate=50/s"), "-r").unwrap();
    assert!(
        told.starts_with("-rate is no flag")
            && told.contains("vegeta  requests per second, in total: -R 50/s"),
        "{told}"
    );
    let told = advice::misread(&words("http://h -duration=5s"), "-d", "uration=5s", "no time").unwrap();
    assert!(told.starts_with("-duration is no flag") && told.contains("-d 5s"), "{told}");
}

#[test]
fn a_value_that_cannot_be_read_names_what_it_is_elsewhere() {
    let line = vec!["http://h".to_owned(), "-d".to_owned(), "{\"a\":1}".to_owned()];
    let told = advice::misread(&line, "--duration", "{\"a\":1}", "no time").unwrap();
    assert!(told.starts_with("-d: no time\n"), "{told}");
    assert!(told.contains("hey, oha, curl  the body: --data '{\"a\":1}'"), "{told}");
    assert!(!told.contains("wrk"), "{told}");
    let told =
        advice::misread(&words("http://h -u me:hunter2"), "--users", "me:hunter2", "no number").unwrap();
    assert!(
        told.contains("user and password (Basic): --user NAME:PASSWORD") && !told.contains("hunter2"),
        "{told}"
    );
    // A number without a unit was meant as a time.
    assert_eq!(advice::misread(&words("http://h -d 10"), "--duration", "10", "no time"), None);
}

#[test]
fn commands_become_those_of_headway() {
    for (line, expected, says) in [
        ("wrk -t2 -c50 -d10s http://h/", "headway run http://h/ -u 50 -d 10s", "closed workload"),
        ("wrk http://h/", "headway run http://h/ -u 10 -d 10s", "closed workload"),
        (
            "wrk -d 30 --latency -H 'A: b' http://h/",
            "headway run http://h/ -u 10 -d 30s -H 'A: b'",
            "--latency of wrk is left out",
        ),
        (
            "/usr/bin/wrk2 -t4 -c100 -R2k -d1m http://h/",
            "headway run http://h/ -R 2k --arrivals constant -c 100 -d 1m",
            "paces requests evenly",
        ),
        ("wrk -R 200 http://h/", "headway run http://h/ -R 200 --arrivals constant -c 10 -d 10s", "wrk2"),
        ("hey http://h/", "headway run http://h/ -u 50 -n 200", "closed"),
        (
            "hey -n 10 http://h/ -c 5",
            "headway run http://h/ -u 5 -n 10",
            "passes over options behind its URL",
        ),
        ("hey -n 205 -c 10 http://h/", "headway run http://h/ -u 10 -n 205", "200 in all"),
        (
            "hey -c 50 -q 10 -z 30s http://h/",
            "headway run http://h/ -R 500 --arrivals constant -c 50 -d 30s",
            "500/s in total",
        ),
        ("hey -z 5s -n 7 -t 3 http://h/", "headway run http://h/ -u 50 -d 5s --timeout 3s", ""),
        (
            "hey -m POST -d '{}' http://h/",
            "headway run http://h/ -u 50 -n 200 -m POST --data '{}' -H 'Content-Type: text/html'",
            "",
        ),
        (
            "oha -q 100 -z 10s http://h/",
            "headway run http://h/ -R 100 --arrivals constant -c 50 -d 10s",
            "evenly",
        ),
        (
            "oha -n 1k -c=20 -d x http://h/",
            "headway run http://h/ -u 20 -n 1000 --data x -m GET",
            "without Content-Type",
        ),
        ("ab -n 1000 -c 10 -k http://h/", "headway run http://h/ -u 10 -n 1000", ""),
        (
            "ab -n 5 -t 10 http://h/",
            "headway run http://h/ -u 1 -n 50000 -d 10s -H 'Connection: close'",
            "50000",
        ),
        ("ab -t 10 -n 5 http://h/", "headway run http://h/ -u 1 -n 5 -d 10s -H 'Connection: close'", ""),
        (
            "ab -u f -T a/b http://h/",
            "headway run http://h/ -u 1 -n 1 -m PUT --body-file f -H 'Content-Type: a/b' -H 'Connection: close'",
            "",
        ),
        (
            "echo \"GET http://h/\" | vegeta attack -rate=50/s -duration=5s | vegeta report",
            "headway run http://h/ -R 50/s --arrivals constant -d 5s",
            "",
        ),
        (
            "vegeta -cpus 2 attack -duration 5s -keepalive=false",
            "headway run - -R 50 --arrivals constant -d 5s -H 'Connection: close'",
            "standard input",
        ),
        (
            "vegeta attack -targets=t.txt -rate 0 -max-workers 9 -duration=5s",
            "headway run t.txt -u 9 -d 5s",
            "closed",
        ),
        (
            "fortio load -qps 100 -c 8 -t 60s -uniform http://h/",
            "headway run http://h/ -R 100 --arrivals constant -c 8 -d 60s",
            "-uniform of fortio is left out",
        ),
        ("fortio load -qps 0 -n 100 http://h/", "headway run http://h/ -u 4 -n 100", "closed"),
        (
            "fortio load -calc-qps -n 100 -t 10s http://h/",
            "headway run http://h/ -R 10 --arrivals constant -c 4 -n 100",
            "",
        ),
        (
            "h2load -n1000 -c10 -m5 http://h/",
            "headway run http://h/ -u 50 -c 10 --streams 5 --pool shared -n 1000 --http2",
            "closed",
        ),
        (
            "h2load --h1 -c10 -D10 --warm-up-time=2 --rps 3 http://h/",
            "headway run http://h/ -R 30 --arrivals constant -c 10 --warmup 2s -d 10s --http1.1",
            "30/s in total",
        ),
        (
            "curl -sk -X PUT -d a=b -u me:pw http://h/",
            "headway run http://h/ -k -m PUT --data a=b --user me:pw -H 'Content-Type: application/x-www-form-urlencoded'",
            "sends once",
        ),
        (
            "hey -n 9 -c 3 -x proxy:3128 http://h/",
            "headway run http://h/ -u 3 -n 9 --proxy http://proxy:3128",
            "",
        ),
        (
            "k6 run --vus 10 --duration 30s script.js",
            "headway run scenario.yaml -u 10 -d 30s",
            "only a person",
        ),
        (
            "locust -f l.py --headless -u 100 -r 10 -t 1m -H http://h",
            "headway run scenario.yaml -u 100 --ramp 10s -d 50s --set target=http://h",
            "after the ramp",
        ),
        ("jmeter -n -t plan.jmx -l out.jtl -Jusers=10", "headway run scenario.yaml", "test plan"),
        ("gatling.sh -s shop.Browse -rf out", "headway run scenario.yaml", "simulation"),
    ] {
        let made = translated(line);
        assert_eq!(made.line(), expected, "{line}");
        let notes = made.notes.join("\n");
        assert!(notes.contains(says), "{line}: {notes}");
        assert_eq!(made.unready.is_some(), expected.contains("scenario.yaml"), "{line}");
    }
    let split = command(&words("wrk -c 5 http://h/")).unwrap();
    assert_eq!(split.line(), "headway run http://h/ -u 5 -d 10s");
}

#[test]
fn what_cannot_be_translated_names_the_tool_and_the_option() {
    for (line, says) in [
        ("siege http://h/", "siege is no tool"),
        ("wrk -x http://h/", "-x (in -x) is no option of wrk"),
        ("wrk --thread 2 http://h/", "did you mean --threads?"),
        ("wrk -c", "-c of wrk needs a value"),
        ("wrk -c many http://h/", "-c of wrk: 'many' is not"),
        ("wrk -s a.lua http://h/", "-s of wrk: a Lua script: what a script does"),
        ("wrk", "no URL"),
        ("hey -x p http://h/", "-x of hey: "),
        ("ab -n 1 -P me:pw http://h/", "write all of it as --proxy http://HOST:PORT"),
        ("jmeter -n -t a.jmx -H proxy", "write all of it as --proxy http://HOST:PORT"),
        ("hey -d @f http://h/", "names a file here"),
        ("hey -t 0 http://h/", "-t of hey: 0 stands for no limit"),
        ("vegeta report x.bin", "only `vegeta attack` sends load"),
        ("vegeta attack -rate=5", "-duration"),
        ("vegeta attack -duration=5s -rate=0", "-max-workers"),
        ("fortio load -t 0 http://h/", "goes on until it is stopped"),
        ("wrk2 http://h/", "needs -R"),
        ("h2load --warm-up-time 5 http://h/", "needs -D"),
        ("oha -n 5 -z 5s http://h/", "not both"),
        ("curl --data-urlencode a=b http://h/", "from-curl"),
        ("curl -d a -d b http://h/", "from-curl joins"),
        ("h2load http://h/a http://h/b", "several URLs: a file of lines"),
        ("curl http://h/a http://i/b", "several URLs: headway from-curl"),
    ] {
        let told = error(line);
        assert!(told.contains(says), "{line}: {told}");
    }
    assert!(command(&[]).is_err());
}

/// A command of a tool with that option: what the tool needs, the option with its example, and a URL.
fn example(tool: &Tool, row: &Row) -> Vec<String> {
    let mut line = vec![tool.name];
    line.extend(tool.verb);
    line.extend(tool.needs);
    let typed = tool.typed(row);
    line.push(&typed);
    line.extend(Some(row.example).filter(|example| !example.is_empty()));
    line.extend(match (tool.takes, row.long) {
        (Takes::Url, "url") => None,
        (Takes::Url, _) => Some("http://127.0.0.1:9/"),
        (Takes::Script(_) | Takes::Targets, _) => None,
    });
    if tool.takes == Takes::Targets {
        let line: Vec<String> = line.iter().map(|word| crate::quoted(word)).collect();
        return vec![format!("echo 'GET http://127.0.0.1:9/' | {}", line.join(" "))];
    }
    line.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_cap_alone_is_corrected_in_both_ways() {
    for (line, closed) in [
        ("headway run http://h/?a=1&b -c 50 -d 5s", "headway run 'http://h/?a=1&b' -u 50 -d 5s\n"),
        ("headway run http://h/?a=1&b -c50", "headway run 'http://h/?a=1&b' -u50\n"),
        ("headway run http://h/?a=1&b --connections=50", "headway run 'http://h/?a=1&b' -u=50\n"),
        ("headway run http://h/?a=1&b -kc50", "headway run 'http://h/?a=1&b' -kc50 -u 50\n"),
    ] {
        let told = advice::cap_alone(&words(line), "50");
        let open = format!("  {} -R 200\n", line.replace("http://h/?a=1&b", "'http://h/?a=1&b'"));
        assert!(told.contains(&open) && told.contains(closed), "{line}: {told}");
    }
}

#[test]
fn a_command_without_a_verb_is_told_the_one_it_lacks() {
    let of = |line| advice::no_verb(&words(line));
    for line in
        ["http://127.0.0.1:8080/ -R 200", "-c 10 http://127.0.0.1:8080/", "load.yaml", "127.0.0.1:8080 -R 5"]
    {
        assert!(of(line).unwrap().ends_with(&format!("\n  headway run {line}")), "{line}");
    }
    assert!(of("hey -c 10 http://h/").unwrap().ends_with("headway translate -- hey -c 10 http://h/"));
    assert!(of("attack -rate 50").unwrap().ends_with("headway translate -- vegeta attack -rate 50"));
    for line in ["rum", "-x", "--frobnicate", "-c 10"] {
        assert_eq!(of(line), None, "{line}");
    }
}

#[test]
fn a_flag_that_is_given_twice_is_named_as_it_was_typed() {
    let of = |line, flag| advice::twice(&words(line), flag);
    assert_eq!(
        of("run u -R 5 -q 7", "--rate").unwrap(),
        "-R and -q are one flag, --rate, and it is given twice"
    );
    let body = of("run u -d 10s -X POST -d {}", "--duration").unwrap();
    assert!(
        body.starts_with("-d is --duration here, and it is given twice\n") && body.contains("--data"),
        "{body}"
    );
    assert_eq!(of("run u --seed 1 --seed 2", "--seed"), None);
}

#[test]
fn scripts_of_other_tools_are_known_by_their_names() {
    for (name, tool) in [
        ("load.js", "k6"),
        ("a/plan.jmx", "JMeter"),
        ("s.lua", "wrk"),
        ("locustfile.py", "Locust"),
        ("S.scala", "Gatling"),
    ] {
        assert!(advice::script(name).unwrap().contains(&format!(" of {tool}. ")), "{name}");
    }
    assert_eq!(
        [advice::script("load.yaml"), advice::script("host"), advice::script("http://h/")],
        [None, None, None]
    );
}

#[test]
fn stages_of_k6_and_streams_of_oha_are_loads() {
    let flags = |words: &str| {
        let translated = translated(words);
        (translated.words.join(" "), translated.notes.join("\n"))
    };
    let (words, notes) = flags("k6 run --stage 30s:10,1m:20 -s 10s:0 --vus 5 s.js");
    assert!(
        words.ends_with(
            "scenario.yaml --phases { ramp: 30s, to: 10 }, { ramp: 1m, to: 20 }, { ramp: 10s, to: 0 }"
        ),
        "{words}"
    );
    assert!(notes.contains("closed: { count: 5 }"), "{notes}");
    let (words, _) = flags("oha --http2 -c 10 -p 4 -n 100 http://127.0.0.1/");
    assert!(words.ends_with("-u 40 -c 10 --streams 4 --pool shared -n 100 --http2"), "{words}");
    let (words, notes) = flags("oha -c 10 -p 4 -n 100 http://127.0.0.1/");
    assert!(words.ends_with("-u 10 -n 100") && notes.contains("nothing without --http2"), "{words}: {notes}");
}

use super::*;
use proptest::prelude::*;
use std::io::Write;

/// Made by `encoded/make.py`.
macro_rules! encoded {
    ($name:literal) => {
        include_bytes!(concat!("encoded/", $name)).as_slice()
    };
}

const TEXT: &[u8] = encoded!("text");
const MOST: u64 = 1 << 20;

fn of(encodings: &[&str], body: &[u8]) -> Result<Vec<u8>, String> {
    let mut codings = Codings::default();
    encodings.iter().for_each(|header| codings.add(header.as_bytes()));
    codings.decode(body.to_vec(), MOST).map_err(|error| match error {
        Undecoded::TooLong(coding) => format!("too long: {coding}"),
        Undecoded::Fault(fault) => fault.same + &fault.met,
    })
}

#[test]
fn what_other_encoders_made_is_decoded() {
    for (encoding, body) in [
        ("gzip", encoded!("text.gzip")),
        ("X-GZip", encoded!("text.gzip")),
        ("gzip", encoded!("text.two-members.gzip")),
        ("deflate", encoded!("text.zlib.deflate")),
        ("deflate", encoded!("text.bare.deflate")),
        ("br", encoded!("text.br")),
        ("zstd", encoded!("text.zstd")),
        ("gzip, br", encoded!("text.gzip.br")),
        (" , Identity,gzip,, br", encoded!("text.gzip.br")),
    ] {
        assert!(of(&[encoding], body).as_deref() == Ok(TEXT), "{encoding}");
    }
    assert!(of(&["gzip", "br"], encoded!("text.gzip.br")).as_deref() == Ok(TEXT), "in two headers");
    assert!(of(&["br, gzip"], encoded!("text.gzip.br")).is_err(), "the last one is undone first");
}

#[test]
fn unknown_encodings_leave_the_body_as_it_is() {
    let there = |header: &str| {
        let mut codings = Codings::default();
        codings.add(header.as_bytes());
        codings.are_there()
    };
    assert!(there("gzip") && there("br,identity"));
    assert!(!there("") && !there("identity") && !there("utf-8") && !there("gzip, aws-chunked"));
}

#[test]
fn a_body_that_grows_without_end_is_given_up() {
    for (encoding, body) in [
        ("gzip", encoded!("bomb.gzip")),
        ("deflate", encoded!("bomb.deflate")),
        ("br", encoded!("bomb.br")),
        ("zstd", encoded!("bomb.zstd")),
        ("gzip, gzip", encoded!("bomb.gzip.gzip")),
    ] {
        let inner = encoding.split(',').next().unwrap();
        assert!(body.len() < 10_000, "{encoding}");
        assert_eq!(of(&[encoding], body), Err(format!("too long: {inner}")));
    }
    let six = of(&["gzip,gzip,gzip", "gzip,gzip,gzip"], TEXT);
    assert_eq!(six, Err("expected a body in at most 5 encodings, got 6".to_owned()));
}

/// gzip that makes nothing shorter (level 0), so that each of several encodings gives as much as the next.
fn stored(body: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    writer.write_all(body).unwrap();
    writer.finish().unwrap()
}

#[test]
fn what_every_encoding_gives_counts() {
    let half = vec![0; MOST as usize / 2 - 4_096];
    assert!(of(&["gzip"], &stored(&half)).is_ok_and(|body| body == half));
    assert!(of(&["gzip, gzip"], &stored(&stored(&half))).is_ok_and(|body| body == half));
    let thrice = stored(&stored(&stored(&half)));
    assert_eq!(of(&["gzip, gzip, gzip"], &thrice), Err("too long: gzip".to_owned()));
}

#[test]
fn damaged_bodies_say_so() {
    for (encoding, body) in [
        ("gzip", encoded!("text.gzip")),
        ("deflate", encoded!("text.zlib.deflate")),
        ("deflate", encoded!("text.bare.deflate")),
        ("br", encoded!("text.br")),
        ("zstd", encoded!("text.zstd")),
    ] {
        let expected = format!("expected a body in {encoding}, got one that cannot be decoded: ");
        for cut in [1, body.len() / 2, body.len() - 1] {
            let error = of(&[encoding], &body[..cut]).unwrap_err();
            let why = if encoding == "br" { "it is damaged or breaks off" } else { "it breaks off" };
            assert_eq!(error, format!("{expected}{why}"), "{encoding} cut to {cut}");
        }
        let other = of(&[encoding], TEXT).unwrap_err();
        assert!(other.starts_with(&expected) && other.len() > expected.len(), "{other}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_panic(encoding in 0usize..4, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = of(&[["gzip", "deflate", "br", "zstd"][encoding]], &bytes);
    }

    /// Valid beginnings get further than random bytes.
    #[test]
    fn no_damage_panics(which in 0usize..5, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (encoding, body) = [
            ("gzip", encoded!("text.gzip")),
            ("deflate", encoded!("text.zlib.deflate")),
            ("deflate", encoded!("text.bare.deflate")),
            ("br", encoded!("text.br")),
            ("zstd", encoded!("text.zstd")),
        ][which];
        let mut body = body.to_vec();
        let at = at.index(body.len());
        body[at] = byte;
        let _ = of(&[encoding], &body);
    }
}

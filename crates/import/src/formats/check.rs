//! What the tests of several formats share.

use crate::testing::read_with;
use crate::{Facts, Format, Options, Rows};
use proptest::prelude::*;

/// Reads a whole file of that format, in one block and then in blocks of a few bytes: both must come to the same.
pub(super) fn read_all(format: &dyn Format, text: &[u8], options: &Options) -> (Rows, Facts) {
    let whole = read_with(format, options, text, &[]).expect("it is read");
    for size in [1, 7, 64] {
        let cuts: Vec<_> = (size..text.len()).step_by(size).collect();
        let (rows, facts) = read_with(format, options, text, &cuts).expect("it is read");
        assert_eq!(rows.records, whole.0.records, "blocks of {size}");
        assert_eq!(
            (rows.unreadable, &rows.examples),
            (whole.0.unreadable, &whole.0.examples),
            "blocks of {size}"
        );
        assert_eq!(facts, whole.1, "blocks of {size}");
    }
    whole
}

proptest! {
    /// Noise made of what these formats are made of: nothing panics, all is taken, and where blocks end does not matter.
    #[test]
    fn noise_is_survived(
        text in "([0-9]{1,3}|[-.,\t\"{}:]|\r?\n|1795265544206570022|1795265544.25|latency,thread=|,ok=true|,ok=false| value=\
                 |,details=\"|\" |\\{\"latency\":|kernel|user|GET|[a-zé ]){0,40}",
        cut in 0usize..60,
    ) {
        let formats: [&dyn Format; 5] = [
            &super::h2load::H2LOAD,
            &super::fortio_log::FORTIO_LOG,
            &super::locust_requests::LOCUST_REQUESTS,
            &super::headway_arrivals::HEADWAY_ARRIVALS,
            &super::headway_arrivals::HEADWAY_PLAN,
        ];
        super::refused::find(text.as_bytes());
        for format in formats {
            format.recognise(text.as_bytes());
            let whole = read_with(format, &Options::default(), text.as_bytes(), &[]).expect("it is read").0;
            let rows = read_with(format, &Options::default(), text.as_bytes(), &[cut]).expect("it is read").0;
            prop_assert_eq!((rows.records, rows.examples), (whole.records, whole.examples), "{}", format.name());
        }
    }
}

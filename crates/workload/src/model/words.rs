//! Values of a model that are written as one word: the word, one line about it, and the value. The reader of scenarios, its
//! schema, its suggestions and the reports use this table.

use super::{Cancel, Discipline, Jitter, Ties, UnderWay};
use std::mem::discriminant;

/// A word and what it stands for.
#[derive(Debug)]
pub struct Word<T> {
    /// As it is written.
    pub name: &'static str,
    /// One line for help texts.
    pub about: &'static str,
    /// What it stands for.
    pub value: T,
}

/// What is written as one of a few words.
pub trait Worded: Clone + 'static {
    /// All words; of several for the same thing, the one to show comes first.
    const WORDS: &'static [Word<Self>];

    /// The word for this.
    fn word(&self) -> &'static str {
        let same = |word: &&Word<Self>| discriminant(&word.value) == discriminant(self);
        Self::WORDS.iter().find(same).map_or("", |word| word.name)
    }
}

impl Worded for Ties {
    const WORDS: &'static [Word<Ties>] = &[
        Word { name: "first", about: "The first in order.", value: Ties::First },
        Word { name: "random", about: "Any of them.", value: Ties::Random },
        Word { name: "round-robin", about: "The next in turn.", value: Ties::RoundRobin },
    ];
}

impl Worded for Discipline {
    const WORDS: &'static [Word<Discipline>] = &[
        Word { name: "fifo", about: "First come, first served.", value: Discipline::Fifo },
        Word {
            name: "lifo",
            about: "Last come, first served; a service is not interrupted.",
            value: Discipline::Lifo,
        },
        Word {
            name: "sharing",
            about: "Processor sharing: all at once, each at its share of the servers' speed.",
            value: Discipline::Sharing,
        },
        Word { name: "ps", about: "The same as sharing.", value: Discipline::Sharing },
        Word {
            name: "priority",
            about: "The lowest class first, FIFO within a class.",
            value: Discipline::Priority { classes: Vec::new(), preemptive: false },
        },
    ];
}

impl Worded for Jitter {
    const WORDS: &'static [Word<Jitter>] = &[
        Word { name: "full", about: "All of the wait is random.", value: Jitter::Full },
        Word { name: "half", about: "Half of the wait is random.", value: Jitter::Half },
        Word { name: "none", about: "The wait is not random.", value: Jitter::None },
    ];
}

impl Worded for UnderWay {
    const WORDS: &'static [Word<UnderWay>] = &[
        Word { name: "finish", about: "Requests in it continue.", value: UnderWay::Finish },
        Word { name: "lost", about: "Requests in it fail at once (503).", value: UnderWay::Lost },
    ];
}

impl Worded for Cancel {
    const WORDS: &'static [Word<Cancel>] = &[
        Word {
            name: "queued",
            about: "A waiting request is withdrawn; a service that has begun continues to its end.",
            value: Cancel::Queued,
        },
        Word { name: "true", about: "The same as queued.", value: Cancel::Queued },
        Word {
            name: "always",
            about: "A waiting request is withdrawn, and a service that has begun stops.",
            value: Cancel::Always,
        },
        Word { name: "false", about: "The request is served all the same.", value: Cancel::Never },
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conform<T: Worded>() {
        for (at, word) in T::WORDS.iter().enumerate() {
            let plain = word.name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            assert!(plain && word.about.ends_with('.'), "{}", word.name);
            assert!(T::WORDS[..at].iter().all(|other| other.name != word.name), "{} twice", word.name);
            let shown = word.value.word();
            assert!(shown == word.name || word.about.contains(shown), "{} is shown as {shown}", word.name);
        }
    }

    #[test]
    fn words_are_plain_single_and_shown_as_they_are_written() {
        conform::<Ties>();
        conform::<Discipline>();
        conform::<Jitter>();
        conform::<UnderWay>();
        conform::<Cancel>();
        assert_eq!(Discipline::Priority { classes: vec![1], preemptive: true }.word(), "priority");
        assert_eq!(Discipline::Sharing.word(), "sharing");
    }
}

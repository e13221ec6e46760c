//! The two CSV files of Headway itself that hold arrivals and nothing else: what `headway serve --arrivals-log` saw come
//! (over UDP with what the kernel had dropped before), and what `headway plan` intends. Runs of Headway are logs of another kind and read
//! elsewhere.

use super::columns::layout::{Cut, Layout, PLAIN, Tabular};
use crate::{Clock, Outcomes};
use headway_base::Nanos;

const ARRIVALS: Layout =
    Layout { tool: Some("headway"), resolution: Some(Nanos(1)), outcomes: Outcomes::None, ..PLAIN };

/// What `headway serve --arrivals-log` writes.
pub static HEADWAY_ARRIVALS: Tabular = Tabular {
    name: "headway-arrivals",
    about: "headway serve --arrivals-log FILE",
    layouts: &[Layout {
        title: "Headway arrivals log",
        rows: Cut::Headed(&["received_unix_s,connection,stamp", "received_unix_s,sender,stamp,dropped"]),
        columns: "start:s=1,connection=2,stamp=3",
        missing: &["It holds arrivals only: neither answers nor what was asked for."],
        ..ARRIVALS
    }],
};

/// What `headway plan` prints.
pub static HEADWAY_PLAN: Tabular = Tabular {
    name: "headway-plan",
    about: "headway plan: what is intended, not what was sent",
    layouts: &[Layout {
        title: "Headway plan",
        rows: Cut::Headed(&["arrival,intended_s,step"]),
        columns: "number=arrival,start:s=intended_s,label=step",
        clock: Clock::Relative,
        missing: &["It is what was intended: what was sent is not in it."],
        ..ARRIVALS
    }],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::check::read_all;
    use crate::{Format, Options};

    #[test]
    fn arrivals_are_read() {
        let text =
            b"received_unix_s,connection,stamp\n1795265544.123456789,0,kernel\n1795265544.123456790,7,user\n\
                     1795265544.1,7\n1795265544.1,-7,user\n0.1,7,user\n1795265544.1,7,us";
        assert!(HEADWAY_ARRIVALS.recognise(text) && !HEADWAY_PLAN.recognise(text));
        let (rows, facts) = read_all(&HEADWAY_ARRIVALS, text, &Options::default());
        let read: Vec<_> =
            rows.records.iter().map(|r| (r.k, r.intended.0, r.response().0, r.connection)).collect();
        assert_eq!(read, [(0, 1_795_265_544_123_456_789, 0, 0), (1, 1_795_265_544_123_456_790, 0, 7)]);
        assert_eq!((rows.unreadable, facts.ends, facts.resolution), (4, false, Nanos(1)));
        assert!(facts.missing[1].starts_with("1 of 2"), "{:?}", facts.missing);
    }

    #[test]
    fn plans_are_read() {
        let text =
            b"arrival,intended_s,step\n3,0.000000001,request\n5,12.5,\"other, step\"\n6,-1.0,request\n7,1\n";
        assert!(HEADWAY_PLAN.recognise(text) && !HEADWAY_ARRIVALS.recognise(text));
        let (rows, facts) = read_all(&HEADWAY_PLAN, text, &Options::default());
        let read: Vec<_> = rows.records.iter().map(|r| (r.k, r.intended.0, r.step)).collect();
        assert_eq!(read, [(3, 1, 0), (5, 12_500_000_000, 1)]);
        assert_eq!(rows.tables.labels.as_slice(), ["request", "other, step"]);
        assert_eq!((rows.unreadable, facts.clock), (2, Clock::Relative));
    }
}

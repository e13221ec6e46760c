//! A time as it is written down in the plays of a part of a study: whole nanoseconds.

/// One.
pub mod time {
    use headway_base::Nanos;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(time: &Nanos, to: S) -> Result<S::Ok, S::Error> {
        time.0.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
        i64::deserialize(from).map(Nanos)
    }
}

/// Several.
pub mod times {
    use headway_base::Nanos;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(times: &[Nanos], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(times.iter().map(|time| time.0))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Nanos>, D::Error> {
        Ok(Vec::<i64>::deserialize(from)?.into_iter().map(Nanos).collect())
    }
}

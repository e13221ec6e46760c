//! How many users of a closed workload there are over time: phases of ramps and holds, and when each user comes and goes.
//!
//! User u (from 0) is there while the level is above u: on a ramp from 0 to n over T user u comes at u T / n, the first at
//! once. Deliberately absent: what users do.

use headway_base::Nanos;

/// A stretch of time over which the number of users goes linearly from one value to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UserPhase {
    /// How long it lasts.
    pub length: Nanos,
    /// Users at its beginning.
    pub from_users: f64,
    /// Users at its end.
    pub to_users: f64,
}

/// The number of users over time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Level {
    phases: Vec<UserPhase>,
}

/// A stretch of time during which a user is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// When the user comes.
    pub from: Nanos,
    /// When the user goes.
    pub to: Nanos,
}

impl Level {
    /// These phases, one after the other from zero; phases of no length are left out.
    pub fn new(phases: &[UserPhase]) -> Level {
        Level { phases: phases.iter().copied().filter(|p| p.length > Nanos::ZERO).collect() }
    }

    /// So many users all the time.
    pub fn hold(users: u32, length: Nanos) -> Level {
        let users = f64::from(users);
        Level::new(&[UserPhase { length, from_users: users, to_users: users }])
    }

    /// The phases, in order.
    pub fn phases(&self) -> &[UserPhase] {
        &self.phases
    }

    /// When the last phase ends.
    pub fn end(&self) -> Nanos {
        self.phases.iter().map(|p| p.length).sum()
    }

    /// Most users at once.
    pub fn most(&self) -> u32 {
        let most = self.phases.iter().map(|p| p.from_users.max(p.to_users)).fold(0.0, f64::max);
        most.ceil() as u32
    }

    /// Users that are to be there at an instant: how many have a stay around it.
    pub fn users_at(&self, at: Nanos) -> f64 {
        let mut begins = Nanos::ZERO;
        for p in &self.phases {
            if at < begins + p.length {
                let share = (at - begins).as_secs_f64() / p.length.as_secs_f64();
                return (p.from_users + (p.to_users - p.from_users) * share).ceil();
            }
            begins += p.length;
        }
        0.0
    }

    /// The first stay of user `u` that ends after `after`.
    pub fn stay(&self, u: u32, after: Nanos) -> Option<Stay> {
        let user = f64::from(u);
        let (mut begins, mut from) = (Nanos::ZERO, None::<Nanos>);
        for p in &self.phases {
            let ends = begins + p.length;
            // When the level of this phase crosses the user's place, if it does.
            let slope = p.to_users - p.from_users;
            let crossing =
                || begins + Nanos::from_secs_f64(p.length.as_secs_f64() * (user - p.from_users) / slope);
            let (above_first, above_last) = (p.from_users > user, p.to_users > user);
            if !above_first
                && let Some(from) = from.take()
                && begins > after
            {
                return Some(Stay { from, to: begins });
            }
            match (above_first, above_last) {
                (true, true) => from = from.or(Some(begins)),
                (false, true) => from = Some(crossing()),
                (true, false) => {
                    let stay = Stay { from: from.take().unwrap_or(begins), to: crossing() };
                    if stay.to > after && stay.to > stay.from {
                        return Some(stay);
                    }
                }
                (false, false) => {}
            }
            begins = ends;
        }
        from.filter(|_| begins > after).map(|from| Stay { from, to: begins })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(phases: &[(i64, f64, f64)]) -> Level {
        let phase = |&(s, from_users, to_users): &(i64, f64, f64)| UserPhase {
            length: Nanos::from_secs(s),
            from_users,
            to_users,
        };
        Level::new(&phases.iter().map(phase).collect::<Vec<_>>())
    }

    fn stays(level: &Level, u: u32) -> Vec<(i64, i64)> {
        let (mut after, mut all) = (Nanos(-1), Vec::new());
        while let Some(stay) = level.stay(u, after) {
            all.push((stay.from.0 / 1_000_000_000, stay.to.0 / 1_000_000_000));
            after = stay.to;
        }
        all
    }

    #[test]
    fn users_come_one_by_one_up_a_ramp_and_stay_to_the_end() {
        let level = level(&[(10, 0.0, 5.0), (20, 5.0, 5.0)]);
        for u in 0..5 {
            assert_eq!(stays(&level, u), [(i64::from(u) * 2, 30)], "{u}");
        }
        assert_eq!((stays(&level, 5), level.most(), level.end()), (vec![], 5, Nanos::from_secs(30)));
    }

    #[test]
    fn spikes_and_pauses_bring_users_back() {
        let level = level(&[(10, 2.0, 2.0), (5, 4.0, 4.0), (10, 2.0, 2.0), (3, 0.0, 0.0), (4, 0.0, 4.0)]);
        assert_eq!(stays(&level, 0), [(0, 25), (28, 32)]);
        assert_eq!(stays(&level, 1), [(0, 25), (29, 32)]);
        assert_eq!(stays(&level, 3), [(10, 15), (31, 32)]);
    }

    #[test]
    fn a_level_counts_those_who_stay() {
        let level = level(&[(10, 0.0, 5.0), (4, 5.0, 5.0), (5, 5.0, 0.0)]);
        for ms in 0..19_000 {
            // Half a millisecond aside: at a crossing itself either answer is right.
            let at = Nanos::from_micros(ms * 1_000 + 500);
            let there =
                (0..5).filter(|&u| level.stay(u, at).is_some_and(|stay| stay.from <= at && at < stay.to));
            assert_eq!(there.count() as f64, level.users_at(at), "{at}");
        }
    }
}

//! The only group of users, which short paths such as `rate` are about.

use super::{Given, name};
use crate::scenario::source::Problem;
use crate::scenario::tree::{Kind, Tree};

/// The only group. Where there are several, the mistake names the first that `fits`, with these keys under it.
pub(super) fn only<'t>(
    root: &'t mut Tree,
    how: &Given<'_>,
    fits: impl Fn(&Tree) -> bool,
    keys: &[&str],
) -> Result<&'t mut Tree, Problem> {
    let wrong = |title: String| Problem::new(how.place, title);
    let none = || wrong(format!("{} applies to the group under users, and there is none", how.quoted()));
    let users = root.get_mut("users").ok_or_else(none)?;
    if !matches!(users.kind, Kind::List(_)) {
        return Ok(users);
    }
    let span = users.span;
    let Kind::List(groups) = &mut users.kind else { return Err(none()) };
    match &mut groups[..] {
        [one] => Ok(one),
        several => {
            let found = several.iter().position(fits);
            let numbered = found.unwrap_or(0).to_string();
            let name = several.get(found.unwrap_or(0)).and_then(name).unwrap_or(&numbered);
            let problem = wrong(format!("{} applies to the only group, and there are several", how.quoted()));
            Err(problem.other(span, "here").help(match found {
                Some(_) => {
                    format!(
                        "say which, for example {}",
                        how.example(&format!("users.{name}.{}", keys.join(".")))
                    )
                }
                None => "and none of them is such a group: write the path of what is meant".to_owned(),
            }))
        }
    }
}

/// What a group is called in messages.
pub(super) fn called(group: &Tree) -> String {
    name(group).map_or("the only group".to_owned(), |name| format!("the group '{name}'"))
}

/// How a group's users come, and what says how many there are.
pub(super) fn way(group: &Tree) -> (&'static str, &'static str) {
    let ways = [
        ("arrive", "arrives", "how many arrive is 'rate'"),
        ("closed", "is closed", "how many users there are is 'users'"),
        ("connecting", "keeps sockets connecting", "how many there are is 'users.connecting.sockets'"),
        ("at-once", "comes at once", "how many come is 'users.at-once'"),
        ("work", "does fixed work", "how many users do it is 'users'"),
    ];
    let found = ways.into_iter().find(|(key, ..)| group.get(key).is_some());
    let unknown = ("", "does neither", "write the path of what is meant, for example users.work.users");
    let (_, does, instead) = found.unwrap_or(unknown);
    (does, instead)
}

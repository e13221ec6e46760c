//! What one session remembers between its requests: extracted values and cookies.
//!
//! A world keeps one per session slot, a hundred thousand of them: a word each until there is something to remember.

use super::cookies::Jar;
use super::encode::Kind;
use super::names::Names;
use super::redirect::Hop;

/// What one session remembers. Empty it holds nothing on the heap.
#[derive(Clone, Debug, Default)]
pub struct Memory(Option<Box<Kept>>);

#[derive(Clone, Debug, Default)]
struct Kept {
    /// By number of the name.
    values: Vec<Value>,
    jar: Jar,
    hop: Option<Hop>,
    /// Whether values stand for those to come.
    placeholders: bool,
}

#[derive(Clone, Default)]
struct Value {
    state: State,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Unset,
    Set(Kind),
}

/// A value's text is kept for the next one unless it is larger than this.
const SPARE: usize = 256;

impl Memory {
    /// A memory in which every name stands for itself, as `{{name}}`: to show requests before any answer is there.
    pub fn placeholders(names: &Names) -> Memory {
        let mut memory = Memory::default();
        let count = names.extracted_count();
        for at in (0u16..).take(count) {
            let text = format!("{{{{{}}}}}", names.extracted_name(at));
            memory.set(at, count, &text, Kind::Text);
        }
        memory.0.get_or_insert_default().placeholders = true;
        memory
    }

    /// Whether its values stand for those to come, of which a link may be anywhere.
    #[inline]
    pub(super) fn has_placeholders(&self) -> bool {
        self.0.as_ref().is_some_and(|kept| kept.placeholders)
    }

    /// Forgets everything: another session begins. Keeps what it has allocated, within bounds.
    pub fn clear(&mut self) {
        if let Some(kept) = &mut self.0 {
            for value in &mut kept.values {
                value.unset();
            }
            kept.jar.clear();
            kept.hop = None;
        }
    }

    /// Whether it holds cookies: the requests of such a session are its own.
    #[inline]
    pub fn has_cookies(&self) -> bool {
        self.0.as_ref().is_some_and(|kept| !kept.jar.is_empty())
    }

    /// The value of that number, if it is set.
    #[inline]
    pub(super) fn value(&self, at: u16) -> Option<(&str, Kind)> {
        let value = self.0.as_ref()?.values.get(usize::from(at))?;
        match value.state {
            State::Set(kind) => Some((&value.text, kind)),
            State::Unset => None,
        }
    }

    /// Sets the value of that number, of `names` in all.
    pub(super) fn set(&mut self, at: u16, names: usize, text: &str, kind: Kind) {
        let kept = self.0.get_or_insert_default();
        if kept.values.len() < names {
            kept.values.resize_with(names, Value::default);
        }
        let value = &mut kept.values[usize::from(at)];
        value.text.clear();
        value.text.push_str(text);
        value.state = State::Set(kind);
    }

    /// Unsets the value of that number.
    pub(super) fn unset(&mut self, at: u16) {
        if let Some(value) = self.0.as_mut().and_then(|kept| kept.values.get_mut(usize::from(at))) {
            value.unset();
        }
    }

    /// The cookies, if there are any.
    #[inline]
    pub(super) fn jar(&self) -> Option<&Jar> {
        self.0.as_ref().map(|kept| &kept.jar).filter(|jar| !jar.is_empty())
    }

    /// Where the last redirect led to.
    #[inline]
    pub(super) fn hop(&self) -> Option<&Hop> {
        self.0.as_ref()?.hop.as_ref()
    }

    pub(super) fn set_hop(&mut self, hop: Hop) {
        self.0.get_or_insert_default().hop = Some(hop);
    }

    pub(super) fn jar_mut(&mut self) -> &mut Jar {
        &mut self.0.get_or_insert_default().jar
    }
}

impl Value {
    fn unset(&mut self) {
        self.state = State::Unset;
        if self.text.capacity() > SPARE {
            self.text = String::new();
        }
    }
}

/// Values may be secrets: only how long they are shows.
impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} ({} bytes)", self.state, self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_memory_is_a_word() {
        assert_eq!(size_of::<Memory>(), size_of::<usize>());
        let mut memory = Memory::default();
        memory.unset(3);
        memory.clear();
        assert!(memory.0.is_none() && memory.value(3).is_none() && !memory.has_cookies());
    }

    #[test]
    fn values_are_set_unset_and_cleared() {
        let mut memory = Memory::default();
        memory.set(1, 2, "a", Kind::Text);
        memory.set(0, 2, "5", Kind::Json);
        assert_eq!((memory.value(0), memory.value(1)), (Some(("5", Kind::Json)), Some(("a", Kind::Text))));
        assert_eq!(memory.value(2), None);
        memory.unset(0);
        assert_eq!((memory.value(0), memory.value(1)), (None, Some(("a", Kind::Text))));
        memory.set(0, 2, &"x".repeat(10_000), Kind::Text);
        memory.clear();
        assert_eq!((memory.value(0), memory.value(1)), (None, None));
        let kept = memory.0.as_ref().unwrap();
        assert!(kept.values.iter().all(|value| value.text.capacity() <= SPARE));
    }

    #[test]
    fn values_do_not_show() {
        let mut memory = Memory::default();
        memory.set(0, 1, "hunter2", Kind::Text);
        assert!(!format!("{memory:?}").contains("hunter2"));
    }
}

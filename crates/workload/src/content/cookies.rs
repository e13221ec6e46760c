//! A session's cookies (RFC 6265), by host, in the order in which they are sent.
//!
//! Time comes in as an argument. A cookie whose bytes are not text or hold a control character is not kept, so that none can break a
//! header line; nor is one for a domain of one label, such as `com`, that is not the host itself.
//!
//! Deliberately absent: the list of public suffixes of several labels, such as `co.uk`, and SameSite.

use jiff::civil;
use url::Url;

/// Most cookies of one session; the oldest makes room for another.
const MOST: usize = 64;
/// Longest name and value together, bytes; longer cookies are not kept (RFC 6265, 6.1).
const LONGEST: usize = 4096;
/// Never.
const SESSION: i64 = i64::MAX;

/// Whose cookies they are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Site {
    /// The host, lower case; empty if there is none.
    pub host: String,
    /// Whether it is reached by TLS.
    pub tls: bool,
    /// Its root as a URL, if it is one of HTTP.
    pub root: Option<Url>,
}

/// The cookies of one session: longer paths first, then older ones (RFC 6265, 5.4).
#[derive(Clone, Debug, Default)]
pub(super) struct Jar(Vec<Cookie>);

#[derive(Clone, PartialEq, Eq)]
struct Cookie {
    name: Box<str>,
    value: Box<str>,
    /// As given, and hosts of it are sent the cookie; or the one host that is.
    domain: Box<str>,
    /// Whether the domain was given.
    of_domain: bool,
    path: Box<str>,
    /// Seconds since 1970.
    expires: i64,
    /// Higher than that of those that were there when it came.
    age: u32,
    secure: bool,
}

/// Values are secrets.
impl std::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={} ({})", self.name, crate::redact::REDACTED, self.path)
    }
}

/// A Set-Cookie header taken apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct SetCookie<'h> {
    pub name: &'h str,
    pub value: &'h str,
    domain: Option<&'h str>,
    path: Option<&'h str>,
    expires: Option<i64>,
    max_age: Option<i64>,
    secure: bool,
}

impl<'h> SetCookie<'h> {
    /// Reads the value of a Set-Cookie header (RFC 6265, 5.2); none if it sets no cookie.
    pub(super) fn parse(header: &'h [u8]) -> Option<SetCookie<'h>> {
        let text = std::str::from_utf8(header).ok()?;
        if text.bytes().any(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f) {
            return None;
        }
        let mut parts = text.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let mut cookie = SetCookie { name: trim(name), value: trim(value), ..SetCookie::default() };
        if cookie.name.is_empty() || cookie.name.len() + cookie.value.len() > LONGEST {
            return None;
        }
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            cookie.attribute(trim(name), trim(value));
        }
        Some(cookie)
    }

    /// Of attributes given twice the last counts; those that cannot be read do not.
    fn attribute(&mut self, name: &str, value: &'h str) {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("expires") {
            self.expires = date(value).or(self.expires);
        } else if is("max-age") {
            self.max_age = max_age(value).or(self.max_age);
        } else if is("domain") {
            let domain = value.strip_prefix('.').unwrap_or(value);
            self.domain = if domain.is_empty() { self.domain } else { Some(domain) };
        } else if is("path") {
            self.path = value.starts_with('/').then_some(value);
        } else if is("secure") {
            self.secure = true;
        }
    }

    /// When it is over, seconds since 1970.
    fn expires(&self, now: i64) -> i64 {
        match (self.max_age, self.expires) {
            (Some(age), _) if age <= 0 => i64::MIN,
            (Some(age), _) => now.saturating_add(age),
            (None, Some(at)) => at,
            (None, None) => SESSION,
        }
    }

    /// Whether its path is to be that of the request.
    pub(super) fn needs_path(&self) -> bool {
        self.path.is_none()
    }
}

impl Jar {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps a cookie that an answer to a request of that path (no query) set, or drops the one that it ends.
    pub(super) fn set(&mut self, cookie: &SetCookie<'_>, site: &Site, request_path: &str, now: i64) {
        if cookie.domain.is_some_and(|domain| !may_set(&site.host, domain)) {
            return;
        }
        let (domain, of_domain) = (cookie.domain.unwrap_or(&site.host), cookie.domain.is_some());
        let path = cookie.path.unwrap_or_else(|| default_path(request_path));
        let expires = cookie.expires(now);
        let same = |c: &Cookie| {
            let there = c.of_domain == of_domain && c.domain.eq_ignore_ascii_case(domain);
            &*c.name == cookie.name && &*c.path == path && there
        };
        let known = self.0.iter().position(same);
        match known {
            Some(at) if expires <= now => {
                self.0.remove(at);
            }
            Some(at) => {
                let old = &mut self.0[at];
                if &*old.value != cookie.value {
                    old.value = cookie.value.into();
                }
                (old.expires, old.secure) = (expires, cookie.secure);
            }
            None if expires <= now => {}
            None => self.insert(Cookie {
                name: cookie.name.into(),
                value: cookie.value.into(),
                domain: domain.into(),
                of_domain,
                path: path.into(),
                expires,
                age: 1 + self.0.iter().map(|c| c.age).max().unwrap_or(0),
                secure: cookie.secure,
            }),
        }
    }

    fn insert(&mut self, cookie: Cookie) {
        if self.0.len() >= MOST
            && let Some((oldest, _)) = self.0.iter().enumerate().min_by_key(|(_, c)| c.age)
        {
            self.0.remove(oldest);
        }
        let at = self.0.partition_point(|c| c.path.len() >= cookie.path.len());
        self.0.insert(at, cookie);
    }

    /// The values of all cookies.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|cookie| &*cookie.value)
    }

    /// Calls back with the names and values that go with a request of that path (no query) to that site.
    #[inline]
    pub(super) fn each<'j>(
        &'j self,
        site: &Site,
        path: &str,
        now: i64,
        mut take: impl FnMut(&'j str, &'j str),
    ) {
        for cookie in &self.0 {
            let sent = cookie.expires > now && (site.tls || !cookie.secure);
            if sent && cookie.goes_to(&site.host) && path_matches(path, &cookie.path) {
                take(&cookie.name, &cookie.value);
            }
        }
    }
}

impl Cookie {
    /// Whether that host, in lower case, is sent it.
    fn goes_to(&self, host: &str) -> bool {
        if self.of_domain { domain_matches(host, &self.domain) } else { *self.domain == *host }
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// RFC 6265, 5.2.2: beyond the range of numbers it is as far as numbers go.
fn max_age(value: &str) -> Option<i64> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(value.parse().unwrap_or(if value.starts_with('-') { i64::MIN } else { i64::MAX }))
}

/// RFC 6265, 5.1.3, for a host and a domain without its leading dot.
fn domain_matches(host: &str, domain: &str) -> bool {
    if host.eq_ignore_ascii_case(domain) {
        return true;
    }
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    let cut = host.len().checked_sub(domain.len() + 1);
    !is_address
        && cut
            .and_then(|cut| Some((host.get(..=cut)?, host.get(cut + 1..)?)))
            .is_some_and(|(head, tail)| head.ends_with('.') && tail.eq_ignore_ascii_case(domain))
}

/// Whether that host may set a cookie for that domain: it is of it, and a domain of one label is the host itself.
fn may_set(host: &str, domain: &str) -> bool {
    domain_matches(host, domain) && (domain.contains('.') || host.eq_ignore_ascii_case(domain))
}

/// RFC 6265, 5.1.4: the directory that the request was in.
fn default_path(request_path: &str) -> &str {
    match request_path.rfind('/') {
        Some(cut) if cut > 0 && request_path.starts_with('/') => &request_path[..cut],
        _ => "/",
    }
}

/// RFC 6265, 5.1.4.
fn path_matches(request: &str, cookie: &str) -> bool {
    request
        .strip_prefix(cookie)
        .is_some_and(|rest| rest.is_empty() || cookie.ends_with('/') || rest.starts_with('/'))
}

/// A date as servers write it, in seconds since 1970 (RFC 6265, 5.1.1): the first words that can be a time, a day, a month
/// and a year, in whatever order.
fn date(text: &str) -> Option<i64> {
    let is_delimiter = |c: char| matches!(c, '\t' | ' '..='/' | ';'..='@' | '['..='`' | '{'..='~');
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for word in text.split(is_delimiter).filter(|word| !word.is_empty()) {
        if time.is_none()
            && let Some(found) = time_of_day(word)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = leading(word, 1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(word)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = leading(word, 2, 4)
        {
            year = Some(found);
        }
    }
    let year = match year? {
        y @ 70..=99 => y + 1900,
        y @ 0..=69 => y + 2000,
        y => y,
    };
    let (hour, minute, second) = time?;
    if year < 1601 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let date = civil::Date::new(year as i16, month? as i8, day? as i8).ok()?;
    let midnight = date.duration_since(civil::date(1970, 1, 1)).as_secs();
    Some(midnight + i64::from(hour * 3600 + minute * 60 + second))
}

/// A number of `least` to `most` digits, then anything but a digit.
fn leading(word: &str, least: usize, most: usize) -> Option<i32> {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    if (least..=most).contains(&digits) { word[..digits].parse().ok() } else { None }
}

fn time_of_day(word: &str) -> Option<(i32, i32, i32)> {
    let mut parts = word.splitn(3, ':');
    let whole = |part: &str| leading(part, 1, 2).filter(|_| part.len() <= 2);
    let (hour, minute) = (whole(parts.next()?)?, whole(parts.next()?)?);
    Some((hour, minute, leading(parts.next()?, 1, 2)?))
}

fn month_of(word: &str) -> Option<i32> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let head = word.get(..3)?;
    MONTHS.iter().position(|month| head.eq_ignore_ascii_case(month)).map(|at| at as i32 + 1)
}

#[cfg(test)]
mod tests;

//! Text of others, in messages of ours.

use std::fmt::{Debug, Display, Formatter, Result, Write};

/// Most characters of one text that are shown.
const LIMIT: usize = 1024;

/// Shows what comes from a file, a file name or somebody's storage such that a terminal does not obey it.
///
/// What is not printed as it is, or not at all, is escaped as `{:?}` does it: control characters, line breaks,
/// direction marks. Quotes and backslashes, which are harmless, stay. Of long text the middle is left out, as
/// messages end with the reason.
pub(super) struct Foreign<T>(pub(super) T);

impl<T: Display> Display for Foreign<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut text = String::new();
        // Strings take everything; whoever cannot print itself is shown as far as it came.
        let _ = write!(text, "{}", self.0);
        escape(&text, f)
    }
}

fn escape(text: &str, f: &mut Formatter<'_>) -> Result {
    // A quote or backslash is escaped by a backslash before it, which is left out.
    let harmless = |c| usize::from(matches!(c, '\'' | '"' | '\\'));
    let mut escaped = text.chars().flat_map(|c| c.escape_debug().skip(harmless(c)));
    let count = escaped.clone().count();
    if count <= LIMIT {
        return escaped.try_for_each(|c| f.write_char(c));
    }
    escaped.by_ref().take(LIMIT / 2).try_for_each(|c| f.write_char(c))?;
    f.write_str(" .. ")?;
    escaped.skip(count - LIMIT).try_for_each(|c| f.write_char(c))
}

impl<T: Display> Debug for Foreign<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        Display::fmt(self, f)
    }
}

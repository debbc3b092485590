//! Constant expressions of the composer: unsigned integers, names, `+ - * / % << >>` and parentheses, as they appear in
//! `const` lines and loop bounds.

use std::collections::HashMap;

/// Names and values of the `const` lines seen so far.
pub(super) type Constants = HashMap<String, u64>;

/// The value of `text`, or `None` if it is not an expression of known unsigned constants.
pub(super) fn evaluate(text: &str, known: &Constants) -> Option<u64> {
    let mut parser = Parser { rest: text.trim(), known };
    let value = parser.sum()?;
    parser.rest.is_empty().then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
    known: &'a Constants,
}

impl<'a> Parser<'a> {
    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    /// WGSL wants parentheses around shifts, so giving them the precedence of sums cannot misread a valid text.
    fn sum(&mut self) -> Option<u64> {
        let mut value = self.product()?;
        loop {
            value = if self.take("+") {
                value.checked_add(self.product()?)?
            } else if self.take("-") {
                value.checked_sub(self.product()?)?
            } else if self.take("<<") {
                value.checked_shl(u32::try_from(self.product()?).ok()?)?
            } else if self.take(">>") {
                value.checked_shr(u32::try_from(self.product()?).ok()?)?
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<u64> {
        let mut value = self.atom()?;
        loop {
            value = if self.take("*") {
                value.checked_mul(self.atom()?)?
            } else if self.take("/") {
                value.checked_div(self.atom()?)?
            } else if self.take("%") {
                value.checked_rem(self.atom()?)?
            } else {
                return Some(value);
            }
        }
    }

    fn atom(&mut self) -> Option<u64> {
        if self.take("(") {
            let value = self.sum()?;
            return self.take(")").then_some(value);
        }
        let end = self.rest.find(|c: char| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            word.trim_end_matches(['u', 'i']).parse().ok()
        } else {
            self.known.get(word).copied()
        }
    }
}

/// Whether a character can be part of an identifier or number.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let known: Constants = [("R".to_string(), 16), ("Q".to_string(), 4)].into();
        for (text, value) in [
            ("16u", Some(16)),
            ("R / 4u", Some(4)),
            ("R * 2u + Q - 1u", Some(35)),
            ("(R + 3u) / Q", Some(4)),
            (" R % 5u ", Some(1)),
            ("(1u << Q)", Some(16)),
            ("R / 0u", None),
            ("Q - R", None),
            ("N", None),
            ("R +", None),
            ("(R", None),
            ("1.5", None),
            ("", None),
        ] {
            assert_eq!(evaluate(text, &known), value, "{text}");
        }
    }
}

//! Constant expressions of the composer: unsigned integers, names, elements of constant arrays, parentheses,
//! `+ - * / % << >>`, comparisons (1 or 0), `&&` and `||`, as they appear in `const` lines, loop bounds and conditions.

use std::collections::HashMap;

/// Names and values of the `const` lines seen so far; elements of arrays are called `NAME[0]`.
pub(super) type Constants = HashMap<String, u64>;

/// Adds `const name = text;`, a value or an array of values, if it can be evaluated.
pub(super) fn declare(name: &str, text: &str, known: &mut Constants) {
    let elements = text.strip_prefix("array<u32,").and_then(|rest| rest.split_once(">(")?.1.strip_suffix(')'));
    match elements {
        None => known.extend(evaluate(text, known).map(|value| (name.to_string(), value))),
        Some(elements) => {
            for (index, element) in elements.split(',').enumerate() {
                known.extend(evaluate(element, known).map(|value| (format!("{name}[{index}]"), value)));
            }
        }
    }
}

/// The value of `text`, or `None` if it is not an expression of known unsigned constants.
pub(super) fn evaluate(text: &str, known: &Constants) -> Option<u64> {
    let mut parser = Parser { rest: text.trim(), known };
    let value = parser.any()?;
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

    fn any(&mut self) -> Option<u64> {
        let mut value = self.all()?;
        while self.take("||") {
            value = u64::from(self.all()? != 0 || value != 0);
        }
        Some(value)
    }

    fn all(&mut self) -> Option<u64> {
        let mut value = self.comparison()?;
        while self.take("&&") {
            value = u64::from(self.comparison()? != 0 && value != 0);
        }
        Some(value)
    }

    fn comparison(&mut self) -> Option<u64> {
        let left = self.sum()?;
        let holds: fn(&u64, &u64) -> bool = match () {
            () if self.take("==") => u64::eq,
            () if self.take("!=") => u64::ne,
            () if self.take("<=") => u64::le,
            () if self.take(">=") => u64::ge,
            () if self.take("<") => u64::lt,
            () if self.take(">") => u64::gt,
            () => return Some(left),
        };
        Some(u64::from(holds(&left, &self.sum()?)))
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
            let value = self.any()?;
            return self.take(")").then_some(value);
        }
        let end = self.rest.find(|c: char| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            word.trim_end_matches(['u', 'i']).parse().ok()
        } else if self.take("[") {
            let index = self.sum()?;
            self.take("]").then(|| self.known.get(&format!("{word}[{index}]")).copied())?
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
        let mut known: Constants = [("R".to_string(), 16), ("Q".to_string(), 4)].into();
        declare("P", "array<u32, 3>(R, Q * 2u, (R + 1u) / 3u)", &mut known);
        declare("S", "R / 2u", &mut known);
        declare("UNKNOWN", "max(R, Q)", &mut known);
        for (text, value) in [
            ("16u", Some(16)),
            ("R / 4u", Some(4)),
            ("R * 2u + Q - 1u", Some(35)),
            ("(R + 3u) / Q", Some(4)),
            (" R % 5u ", Some(1)),
            ("(1u << Q)", Some(16)),
            ("S + P[1u]", Some(16)),
            ("P[Q / 2u] % P[1]", Some(5)),
            ("R == 16u", Some(1)),
            ("R != 16u || Q < 5u && Q >= 4u", Some(1)),
            ("(R > 16u || Q <= 3u)", Some(0)),
            ("P[3u]", None),
            ("P[0u", None),
            ("P", None),
            ("UNKNOWN", None),
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

//! Loop unrolling on the text: `// dspk:unroll` before a `for` whose bounds are constants. And folding: `// dspk:fold`
//! before an `if` whose condition is constant keeps the branch that is taken, so that a kernel made for many cases hands
//! a driver the text of one.
//!
//! Each copy of the body stands in braces of its own with the loop variable replaced by a literal, so that an array
//! which is only indexed by such variables is only indexed by constants and a driver can keep it in registers.

use super::compose::{Line, fault};
use super::constant::{Constants, evaluate, is_word};
use crate::error::Result;

/// Lines a kernel may grow to.
const LIMIT: usize = 100_000;

/// Replaces every marked loop and `if` of `lines`, appending to `out`.
pub(super) fn unroll(lines: &[Line], known: &Constants, out: &mut Vec<Line>) -> Result<()> {
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        if line.text.trim() == "// dspk:fold" {
            at = fold(lines, at, known, out)?;
        } else if line.text.trim() != "// dspk:unroll" {
            out.push(line.clone());
            at += 1;
        } else {
            let header = lines.get(at + 1).ok_or_else(|| fault(line, "dspk:unroll is not followed by a loop"))?;
            let (name, start, end) = bounds(header, known)?;
            let close = closing(lines, at + 1)?;
            let body = &lines[at + 2..close];
            check_body(body)?;
            for value in start..end {
                let literal = format!("{value}u");
                let copy: Vec<Line> = body.iter().map(|l| l.with(replace(&l.text, name, &literal))).collect();
                out.push(header.with("{".into()));
                unroll(&copy, known, out)?;
                out.push(lines[close].with("}".into()));
                if out.len() > LIMIT {
                    return Err(fault(header, format!("unrolling makes the kernel longer than {LIMIT} lines")));
                }
            }
            at = close + 1;
        }
    }
    Ok(())
}

/// Appends the taken branch of the marked `if` at `at`; returns the index after it.
fn fold(lines: &[Line], at: usize, known: &Constants, out: &mut Vec<Line>) -> Result<usize> {
    let header = lines.get(at + 1).ok_or_else(|| fault(&lines[at], "dspk:fold is not followed by an `if`"))?;
    let condition =
        code(&header.text).trim().strip_prefix("if (").and_then(|rest| rest.strip_suffix(") {")).ok_or_else(|| {
            fault(header, "an `if` to fold must read `if (CONDITION) {` with its brace on the same line")
        })?;
    let holds = evaluate(condition, known)
        .ok_or_else(|| fault(header, format!("the condition `{condition}` of a folded `if` is not a constant")))?;
    let mut depth = 0i64;
    let mut otherwise = None;
    for (end, line) in lines.iter().enumerate().skip(at + 1) {
        let text = code(&line.text).trim();
        if depth == 1 && text == "} else {" {
            otherwise = Some(end);
        }
        depth += text.matches('{').count() as i64 - text.matches('}').count() as i64;
        if depth == 0 {
            if text != "}" {
                return Err(fault(line, "the brace that closes a folded `if` must stand alone on its line"));
            }
            let taken = match (holds != 0, otherwise) {
                (true, middle) => &lines[at + 2..middle.unwrap_or(end)],
                (false, Some(middle)) => &lines[middle + 1..end],
                (false, None) => &[],
            };
            if !taken.is_empty() {
                out.push(header.with("{".into()));
                unroll(taken, known, out)?;
                out.push(line.with("}".into()));
            }
            return Ok(end + 1);
        }
    }
    Err(fault(header, "the folded `if` is never closed"))
}

/// Name, first value and end of `for (var i = 0u; i < N; i++) {`.
fn bounds<'a>(line: &'a Line, known: &Constants) -> Result<(&'a str, u64, u64)> {
    let parts = || {
        let inner = code(&line.text).trim().strip_prefix("for (var ")?.strip_suffix(") {")?;
        let mut parts = inner.split(';');
        let (name, start) = parts.next()?.split_once('=')?;
        let (tested, end) = parts.next()?.split_once('<')?;
        let name = name.trim();
        let step = parts.next()?.trim().strip_prefix(name)?.trim();
        (tested.trim() == name && step == "++" && parts.next().is_none()).then_some((name, start, end))
    };
    let (name, start, end) = parts().ok_or_else(|| {
        fault(line, "a loop to unroll must read `for (var i = START; i < END; i++) {` with its brace on the same line")
    })?;
    let value = |text: &str| {
        evaluate(text, known)
            .ok_or_else(|| fault(line, format!("the bound `{}` of an unrolled loop is not a constant", text.trim())))
    };
    Ok((name, value(start)?, value(end)?))
}

/// Index of the line that closes the block opened at the end of line `open`.
fn closing(lines: &[Line], open: usize) -> Result<usize> {
    let mut depth = 0i64;
    for (at, line) in lines.iter().enumerate().skip(open) {
        let text = code(&line.text);
        depth += text.matches('{').count() as i64 - text.matches('}').count() as i64;
        if depth == 0 {
            return match text.trim() {
                "}" => Ok(at),
                _ => Err(fault(line, "the brace that closes an unrolled loop must stand alone on its line")),
            };
        }
    }
    Err(fault(&lines[open], "the unrolled loop is never closed"))
}

/// A `break` or `continue` would mean something else in a plain block.
fn check_body(body: &[Line]) -> Result<()> {
    for line in body {
        if code(&line.text).split(|c| !is_word(c)).any(|word| word == "break" || word == "continue") {
            return Err(fault(line, "`break` and `continue` cannot stand in an unrolled loop"));
        }
    }
    Ok(())
}

/// The line without its comment.
pub(super) fn code(text: &str) -> &str {
    text.split_once("//").map_or(text, |(code, _)| code)
}

/// Replaces whole words outside comments; a member after a dot is not the variable.
fn replace(text: &str, name: &str, value: &str) -> String {
    let end = code(text).len();
    let (code, comment) = text.split_at(end);
    let mut out = String::with_capacity(text.len());
    let mut rest = code;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, tail) = rest.split_at(length);
        out.push_str(if word == name && before != '.' { value } else { word });
        before = first;
        rest = tail;
    }
    out + comment
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<String> {
        let lines: Vec<Line> =
            text.lines().enumerate().map(|(i, t)| Line { text: t.into(), file: "test", number: i + 1 }).collect();
        let mut out = Vec::new();
        unroll(&lines, &[("R".to_string(), 2)].into(), &mut out)?;
        Ok(out.iter().map(|l| l.text.trim()).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn nested_loops_become_blocks_of_literals() {
        let text = "// dspk:unroll\nfor (var i = 0u; i < R; i++) {\n// dspk:unroll\nfor (var j = i; j < R; j++) {\n\
                    a[i] += q.i * b[i + j]; // i stays\n}\n}";
        let want = "{\n{\na[0u] += q.i * b[0u + 0u]; // i stays\n}\n{\na[0u] += q.i * b[0u + 1u]; // i stays\n}\n}\n\
                    {\n{\na[1u] += q.i * b[1u + 1u]; // i stays\n}\n}";
        assert_eq!(run(text).unwrap(), want);
    }

    #[test]
    fn zero_copies_are_legal() {
        assert_eq!(run("a;\n// dspk:unroll\nfor (var i = 2u; i < R; i++) {\nb;\n}\nc;").unwrap(), "a;\nc;");
    }

    #[test]
    fn folding_keeps_the_taken_branch() {
        let text = "// dspk:unroll\nfor (var i = 0u; i < 3u; i++) {\n// dspk:fold\nif (i == R) {\na[i];\n\
                    // dspk:fold\nif (i > 5u) {\nnever;\n}\n} else {\nif (x) {\nb[i];\n} else {\nc;\n}\n}\n}";
        let other = |i: u32| format!("{{\n{{\nif (x) {{\nb[{i}u];\n}} else {{\nc;\n}}\n}}\n}}\n");
        assert_eq!(run(text).unwrap(), other(0) + &other(1) + "{\n{\na[2u];\n}\n}");
    }

    #[test]
    fn faults_name_the_line() {
        for (text, line, what) in [
            ("x;\n// dspk:unroll", 2, "not followed"),
            ("// dspk:unroll\nwhile (true) {\n}", 2, "must read"),
            ("// dspk:unroll\nfor (var i = 0u; i < N; i++) {\n}", 2, "`N`"),
            ("// dspk:unroll\nfor (var i = 0u; i < R; i++) {\nbreak;\n}", 3, "break"),
            ("// dspk:unroll\nfor (var i = 0u; i < R; i++) {\na;", 2, "never closed"),
            ("// dspk:unroll\nfor (var i = 0u; i < R; i++) {\na; }", 3, "alone"),
            ("// dspk:fold", 1, "not followed"),
            ("// dspk:fold\nif x {\n}", 2, "must read"),
            ("// dspk:fold\nif (x) {\n}", 2, "`x`"),
            ("// dspk:fold\nif (R == 2u) {\na;", 2, "never closed"),
            ("// dspk:fold\nif (R == 2u) {\na; }", 3, "alone"),
            ("// dspk:unroll\nfor (var i = 0u; i < 99999999u; i++) {\na;\n}", 2, "longer"),
        ] {
            let message = run(text).unwrap_err().to_string();
            assert!(message.contains(&format!("test.wgsl:{line}:")) && message.contains(what), "{message}");
        }
    }
}

//! Parameters: JSON values read with their types.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

use super::{Array, NdArray};
use crate::design::{Sos, Window};
use crate::error::{Error, Result};

/// Reads an array from a file named among the parameters.
pub type Loader = fn(&Path) -> Result<Array>;

/// The parameters of one call. Every reader gives `None` for a parameter that is absent or `null`, and marks it as read.
#[derive(Debug, Clone, Default)]
pub struct Params {
    values: Map<String, Value>,
    loader: Option<Loader>,
    read: RefCell<BTreeSet<String>>,
}

impl Params {
    /// Parameters from a JSON object, `{}` for none. Numbers are correctly rounded to float64.
    ///
    /// # Errors
    /// Text that is not JSON, or not an object.
    pub fn parse(json: &str) -> Result<Self> {
        match serde_json::from_str(json) {
            Ok(Value::Object(values)) => Ok(Params { values, ..Params::default() }),
            Ok(other) => Err(Error::invalid(format!(
                "the parameters are {}; pass a JSON object such as {{\"fs\": 1000}}, or {{}} for none",
                describe(&other)
            ))),
            Err(e) => Err(Error::invalid(format!(
                "the parameters are not valid JSON: {e}; pass an object such as {{\"fs\": 1000}}"
            ))
            .with_source(e)),
        }
    }

    /// Lets arrays be given as the path of a file, which `loader` reads.
    pub fn with_loader(mut self, loader: Loader) -> Self {
        self.loader = Some(loader);
        self
    }

    /// The names given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Whether the parameter has a value other than `null`.
    pub fn is_given(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|v| !v.is_null())
    }

    /// Whether the parameter was given as `null`, for commands where that means something else than its default.
    pub fn is_null(&self, name: &str) -> bool {
        self.value(name);
        self.values.get(name).is_some_and(Value::is_null)
    }

    /// A given parameter that no reader has looked at.
    pub(super) fn unread(&self) -> Option<&str> {
        let read = self.read.borrow();
        self.names().find(|n| !read.contains(*n))
    }

    /// What `read` gives, which must not be `None`: `params.required("N", Params::usize)`.
    ///
    /// # Errors
    /// If the parameter is not given, and those of `read`.
    pub fn required<T>(&self, name: &str, read: fn(&Self, &str) -> Result<Option<T>>) -> Result<T> {
        read(self, name)?.ok_or_else(|| Error::invalid(format!("parameter '{name}' is missing; it has no default")))
    }

    /// Whether the parameter was given as `false`, for those that are names otherwise.
    pub fn is_false(&self, name: &str) -> bool {
        self.value(name) == Some(&Value::Bool(false))
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.read.borrow_mut().insert(name.to_string());
        self.values.get(name).filter(|v| !v.is_null())
    }

    fn read<T>(&self, name: &str, expected: &str, f: impl FnOnce(&Value) -> Option<T>) -> Result<Option<T>> {
        self.value(name).map(|v| f(v).ok_or_else(|| mismatch(name, v, expected))).transpose()
    }

    /// A number.
    pub fn f64(&self, name: &str) -> Result<Option<f64>> {
        self.read(name, "a number", Value::as_f64)
    }

    /// A count or an index: a whole number, not negative.
    pub fn usize(&self, name: &str) -> Result<Option<usize>> {
        self.read(name, COUNT, count)
    }

    /// `true` or `false`.
    pub fn bool(&self, name: &str) -> Result<Option<bool>> {
        self.read(name, "true or false", Value::as_bool)
    }

    /// One of several names.
    pub fn choice(&self, name: &str, legal: &[&'static str]) -> Result<Option<&'static str>> {
        let quoted: Vec<_> = legal.iter().map(|l| format!("\"{l}\"")).collect();
        let expected = format!("one of {}", quoted.join(", "));
        self.read(name, &expected, |v| legal.iter().copied().find(|l| v.as_str() == Some(l)))
    }

    /// A list of numbers; a single number counts as a list of one.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>> {
        self.read(name, "a number or a list of numbers", |v| match v {
            Value::Array(items) => items.iter().map(Value::as_f64).collect(),
            _ => v.as_f64().map(|n| vec![n]),
        })
    }

    /// The ends of an interval: its lower one as a number, or both as a list, where `null` is an open end.
    pub fn open_interval(&self, name: &str) -> Result<Option<[Option<f64>; 2]>> {
        let end = |v: &Value| if v.is_null() { Some(None) } else { v.as_f64().map(Some) };
        self.read(name, "a number, or a list of two, either of which may be null", |v| match v {
            Value::Array(items) => match &items[..] {
                [min, max] => Some([end(min)?, end(max)?]),
                _ => None,
            },
            _ => v.as_f64().map(|min| [Some(min), None]),
        })
    }

    /// A list of indices.
    pub fn indices(&self, name: &str) -> Result<Option<Vec<usize>>> {
        self.read(name, "a list of whole numbers, not negative", index_list)
    }

    /// A list of lists of indices.
    pub fn index_groups(&self, name: &str) -> Result<Option<Vec<Vec<usize>>>> {
        let expected = "a list of lists of whole numbers, such as [[0, 1], [2, 3]]";
        self.read(name, expected, |v| v.as_array()?.iter().map(index_list).collect())
    }

    /// An array: nested lists, a single number (no dimension), or the path of a `.npy` file.
    pub fn array(&self, name: &str) -> Result<Option<NdArray<f64>>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        if let Value::String(path) = value {
            return self.load(name, Path::new(path)).map(Some);
        }
        let (mut shape, mut data) = (Vec::new(), Vec::new());
        if !flatten(value, 0, &mut shape, &mut data) {
            return Err(mismatch(
                name,
                value,
                "nested lists of numbers, equally long at each level, or the path of a .npy file",
            ));
        }
        NdArray::new(shape, data).map(Some)
    }

    fn load(&self, name: &str, path: &Path) -> Result<NdArray<f64>> {
        let Some(loader) = self.loader else {
            return Err(Error::invalid(format!(
                "parameter '{name}' is a string, but files cannot be read here; pass nested lists"
            )));
        };
        let array = loader(path).map_err(|e| e.context(format!("parameter '{name}'")))?;
        let shape = array.shape().to_vec();
        match array {
            Array::F64(a) => Ok(a),
            Array::F32(a) => NdArray::new(shape, a.data().iter().map(|v| f64::from(*v)).collect()),
            Array::I16(a) => NdArray::new(shape, a.data().iter().map(|v| f64::from(*v)).collect()),
            // As integers in JSON: to the nearest float64.
            Array::I64(a) => NdArray::new(shape, a.data().iter().map(|v| *v as f64).collect()),
            Array::C64(_) => Err(Error::invalid(format!(
                "parameter '{name}': {} holds {} values; pass float64, float32 or integers",
                path.display(),
                array.dtype()
            ))),
        }
    }

    /// Whether a parameter is given as an array of numbers: a list that begins with one, or the path of a `.npy` file.
    pub fn is_array(&self, name: &str) -> bool {
        match self.value(name) {
            Some(Value::Array(items)) => items.first().is_some_and(Value::is_number),
            Some(Value::String(path)) => Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")),
            _ => false,
        }
    }

    /// A list of numbers as an array of one dimension, for filter coefficients.
    ///
    /// # Errors
    /// Those of [`Params::array`], and another number of dimensions.
    pub fn coefficients(&self, name: &str) -> Result<Option<Vec<f64>>> {
        let Some(array) = self.array(name)? else { return Ok(None) };
        match array.shape() {
            [] | [_] => Ok(Some(array.into_data())),
            shape => Err(Error::shape(format!("parameter '{name}' has shape {shape:?}; pass one list of numbers"))),
        }
    }

    /// Second-order sections, an array of shape `[sections, 6]`.
    ///
    /// # Errors
    /// Those of [`Params::array`] and [`Sos::new`], and another shape.
    pub fn sos(&self, name: &str) -> Result<Option<Sos>> {
        let Some(array) = self.array(name)? else { return Ok(None) };
        match array.shape() {
            [_, 6] => {
                let rows: Vec<&[f64]> = array.data().chunks_exact(6).collect();
                Sos::from_rows(&rows).map(Some).map_err(|e| e.context(format!("parameter '{name}'")))
            }
            shape => Err(Error::shape(format!(
                "parameter '{name}' has shape {shape:?}; pass [sections, 6], each section [b0, b1, b2, a0, a1, a2]"
            ))),
        }
    }

    /// A window function as scipy takes it: `"hann"`, `["kaiser", 8.6]`, or a number, Kaiser's `beta`. With it comes what
    /// an ending of the name, `_periodic` (true) or `_symmetric` (false), says in place of `fftbins`.
    ///
    /// # Errors
    /// Those of [`Window::named`], and a value of another form.
    pub fn window(&self, name: &str) -> Result<Option<(Window, Option<bool>)>> {
        let expected = "a window's name, a list such as [\"kaiser\", 8.6], or a number (Kaiser's beta)";
        let Some((window, params)) = self.read(name, expected, window_call)? else { return Ok(None) };
        let (window, form) = Window::split_form(&window);
        let window = Window::named(window, &params).map_err(|e| e.context(format!("parameter '{name}'")))?;
        Ok(Some((window, form)))
    }
}

const COUNT: &str = "a whole number, not negative, up to 2^53";

/// Whole numbers up to 2^53, also written as 4.0.
fn count(value: &Value) -> Option<usize> {
    let number = value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(n))?;
    value.as_u64().or(Some(number as u64)).and_then(|n| usize::try_from(n).ok())
}

fn index_list(value: &Value) -> Option<Vec<usize>> {
    value.as_array()?.iter().map(count).collect()
}

/// A window's name and parameters. A list among them stands for its numbers, `true` and `false` for 1 and 0.
fn window_call(value: &Value) -> Option<(String, Vec<Option<f64>>)> {
    let number = |v: &Value| v.as_f64().or_else(|| v.as_bool().map(|b| f64::from(u8::from(b))));
    match value {
        Value::String(name) => Some((name.clone(), Vec::new())),
        Value::Number(beta) => Some(("kaiser".to_string(), vec![beta.as_f64()])),
        Value::Array(items) => {
            let (name, rest) = items.split_first()?;
            let mut params = Vec::new();
            for item in rest {
                match item {
                    Value::Null => params.push(None),
                    Value::Array(list) => {
                        for v in list {
                            params.push(Some(number(v)?));
                        }
                    }
                    item => params.push(Some(number(item)?)),
                }
            }
            Some((name.as_str()?.to_string(), params))
        }
        _ => None,
    }
}

/// Collects nested lists; false where they are ragged or hold something else than numbers.
fn flatten(value: &Value, depth: usize, shape: &mut Vec<usize>, data: &mut Vec<f64>) -> bool {
    match value {
        Value::Array(items) => {
            // The first list met at a level sets its length; a level that already held numbers cannot hold lists.
            if shape.len() == depth {
                if !data.is_empty() {
                    return false;
                }
                shape.push(items.len());
            }
            shape[depth] == items.len() && items.iter().all(|v| flatten(v, depth + 1, shape, data))
        }
        Value::Number(n) => match n.as_f64() {
            Some(n) if depth == shape.len() => {
                data.push(n);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

fn mismatch(name: &str, value: &Value, expected: &str) -> Error {
    Error::invalid(format!("parameter '{name}' is {}; pass {expected}", describe(value)))
}

/// A value in words, cut to a length fit for a message.
fn describe(value: &Value) -> String {
    const SHOWN: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(json: &str) -> Params {
        Params::parse(json).unwrap()
    }

    #[test]
    fn absent_and_null_are_the_default() {
        let p = params(r#"{"a": null}"#);
        assert_eq!(p.f64("a").unwrap(), None);
        assert_eq!(p.f64("b").unwrap(), None);
        assert!(p.is_null("a") && !p.is_null("b"));
        assert!(!p.is_given("a"));
        let e = p.required("a", Params::f64).unwrap_err().to_string();
        assert!(e.contains("'a' is missing"), "{e}");
    }

    #[test]
    fn numbers_are_correctly_rounded() {
        // Seventeen digits, where a quick parser can miss the nearest float64 by one ulp.
        let p = params(r#"{"a": 0.0003814881399182814, "b": 7, "c": 5.0, "d": [1, 2.5], "e": 3}"#);
        assert_eq!(p.required("a", Params::f64).unwrap(), 0.000_381_488_139_918_281_4);
        assert_eq!(p.required("b", Params::usize).unwrap(), 7);
        assert_eq!(p.required("c", Params::usize).unwrap(), 5);
        assert_eq!(p.required("d", Params::numbers).unwrap(), [1.0, 2.5]);
        assert_eq!(p.required("e", Params::numbers).unwrap(), [3.0]);
        assert_eq!(p.unread(), None);
    }

    #[test]
    fn a_value_of_the_wrong_kind_says_what_is_right() {
        let p = params(r#"{"s": "x", "f": 1.5, "n": -1, "l": [1, "a"], "g": [[0], 1], "big": 1e30}"#);
        let cases: [(Result<Option<()>>, &str); 9] = [
            (p.f64("s").map(|_| None), "parameter 's' is \"x\"; pass a number"),
            (p.usize("f").map(|_| None), "parameter 'f' is 1.5; pass a whole number"),
            (p.usize("n").map(|_| None), "parameter 'n' is -1; pass a whole number"),
            (p.usize("big").map(|_| None), "pass a whole number"),
            (p.bool("f").map(|_| None), "pass true or false"),
            (p.choice("s", &["low", "high"]).map(|_| None), "pass one of \"low\", \"high\""),
            (p.numbers("l").map(|_| None), "parameter 'l' is [1,\"a\"]; pass a number or a list"),
            (p.indices("l").map(|_| None), "pass a list of whole numbers"),
            (p.index_groups("g").map(|_| None), "pass a list of lists"),
        ];
        for (got, want) in cases {
            let e = got.unwrap_err();
            assert!(e.to_string().contains(want), "{e} / {want}");
            assert!(e.kind().is_usage());
        }
    }

    #[test]
    fn arrays_are_nested_lists_of_one_shape() {
        let p = params(r#"{"a": [[1, 2, 3], [4, 5, 6]], "n": 5, "z": [], "e": [[], []], "b": [1]}"#);
        let shape = |n| p.array(n).unwrap().unwrap().shape().to_vec();
        assert_eq!(shape("a"), [2, 3]);
        assert_eq!(p.array("a").unwrap().unwrap().data(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(shape("n"), [0; 0]);
        assert_eq!(shape("z"), [0]);
        assert_eq!(shape("e"), [2, 0]);
        assert_eq!(p.coefficients("b").unwrap(), Some(vec![1.0]));
        assert_eq!(p.coefficients("n").unwrap(), Some(vec![5.0]));
        assert!(p.coefficients("a").unwrap_err().to_string().contains("[2, 3]"));
        for ragged in ["[[1], 2]", "[1, [2]]", "[[1, 2], [3]]", "[[1], [[2]]]", "[\"a\"]", "[null]", "{}", "true"] {
            let p = params(&format!(r#"{{"a": {ragged}}}"#));
            assert!(p.array("a").is_err(), "{ragged}");
        }
    }

    #[test]
    fn arrays_come_from_files_through_the_loader() {
        let p = params(r#"{"a": "x.npy", "b": "ints.npy", "c": "complex.npy"}"#);
        assert!(p.array("a").unwrap_err().to_string().contains("cannot be read here"));
        let p = p.with_loader(|path| match path.to_str() {
            Some("x.npy") => Ok(Array::F32(NdArray::flat(vec![0.5, 1.5]))),
            Some("ints.npy") => Ok(Array::I64(NdArray::flat(vec![1, -2]))),
            _ => Ok(Array::C64(NdArray::flat(vec![[1.0, 0.0]]))),
        });
        assert_eq!(p.array("a").unwrap().unwrap().data(), [0.5, 1.5]);
        assert_eq!(p.array("b").unwrap().unwrap().data(), [1.0, -2.0]);
        assert!(p.array("c").unwrap_err().to_string().contains("complex64"));
    }

    #[test]
    fn sections_need_six_values() {
        let p = params(r#"{"a": [[1, 0, 0, 2, 0, 0]], "b": [1, 0, 0, 1, 0, 0], "c": [[1, 0, 0, 0, 0, 0]]}"#);
        assert_eq!(p.sos("a").unwrap().unwrap().sections(), [[0.5, 0.0, 0.0, 1.0, 0.0, 0.0]]);
        assert!(p.sos("b").unwrap_err().to_string().contains("[sections, 6]"));
        assert!(p.sos("c").unwrap_err().to_string().contains("a0 = 0"));
    }

    #[test]
    fn windows_are_names_lists_or_numbers() {
        let window = |json: &str| params(&format!(r#"{{"w": {json}}}"#)).window("w");
        let is = |json: &str, want: Window| assert_eq!(window(json).unwrap(), Some((want, None)), "{json}");
        is(r#""ham""#, Window::Hamming);
        is(r#"["hann"]"#, Window::Hann);
        is("8.6", Window::Kaiser { beta: 8.6 });
        is(r#"["exponential", null, 3]"#, Window::Exponential { center: None, tau: 3.0 });
        is(r#"["general_cosine", [0.5, 0.25]]"#, Window::GeneralCosine(vec![0.5, 0.25]));
        is(r#"["taylor", 5, 40, false]"#, Window::Taylor { nbar: 5, sll: 40.0, norm: false });
        assert_eq!(window(r#""hann_symmetric""#).unwrap(), Some((Window::Hann, Some(false))));
        assert_eq!(window(r#"["tukey_periodic"]"#).unwrap(), Some((Window::Tukey { alpha: 0.5 }, Some(true))));
        assert_eq!(window("null").unwrap(), None);
        let is_array = |json: &str| params(&format!(r#"{{"w": {json}}}"#)).is_array("w");
        assert!(is_array("[1, 2.5]") && is_array(r#""w.npy""#));
        assert!(!is_array(r#"["kaiser", 8.6]"#) && !is_array(r#""hann""#) && !is_array("[]") && !is_array("8.6"));
        for bad in ["[]", "{}", "true", "[8.6]", r#"["kaiser", "a"]"#, r#"["general_cosine", [null]]"#] {
            let e = window(bad).unwrap_err().to_string();
            assert!(e.contains("parameter 'w' is") && e.contains("[\"kaiser\", 8.6]"), "{e}");
        }
        assert!(window(r#""hanning""#).unwrap_err().to_string().starts_with("parameter 'w': no window is called"));
        assert!(window(r#"["dpss"]"#).unwrap_err().to_string().contains("takes NW"));
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        for bad in ["", "{", "[]", "1", "nul", "{\"a\": NaN}", "{} x"] {
            let e = Params::parse(bad).unwrap_err();
            assert!(e.kind().is_usage() && e.to_string().contains("object"), "{e}");
        }
        let deep = format!("{{\"a\": {}", "[".repeat(100_000));
        assert!(Params::parse(&deep).is_err());
    }
}

//! The designs as commands. They run on the host in float64 whatever runtime is asked for.

mod fir;
mod iir;
mod other;

use super::command::{Array, Command, NdArray, Outputs, Params};
use crate::error::Result;

/// The commands of this family.
pub fn commands() -> Vec<Command> {
    [&iir::COMMANDS[..], &fir::COMMANDS, &other::COMMANDS].concat()
}

/// scipy's default.
const FS: f64 = 2.0;

fn rate(params: &Params) -> Result<f64> {
    Ok(params.f64("fs")?.unwrap_or(FS))
}

/// One list of float64 values.
fn list(name: &'static str, values: Vec<f64>) -> Outputs {
    vec![(name, Array::F64(NdArray::flat(values)))]
}

#[cfg(test)]
mod tests {
    use super::super::command::Request;
    use super::*;

    fn call(name: &str, params: &str) -> Result<Outputs> {
        let command = commands().into_iter().find(|c| c.name == name).unwrap();
        command.call(Request { params: Params::parse(params)?, ..Request::default() })
    }

    fn shapes(name: &str, params: &str) -> Vec<(&'static str, Vec<usize>)> {
        call(name, params).unwrap().into_iter().map(|(name, array)| (name, array.shape().to_vec())).collect()
    }

    #[test]
    fn every_design_gives_the_shapes_it_names() {
        for (name, params, expected) in [
            ("butter", r#"{"N": 3, "Wn": 0.1}"#, vec![("sos", vec![2, 6])]),
            ("cheby1", r#"{"N": 3, "Wn": [0.1, 0.2], "rp": 1, "btype": "bandpass"}"#, vec![("sos", vec![3, 6])]),
            ("cheby2", r#"{"N": 4, "Wn": 0.1, "rs": 40, "btype": "highpass"}"#, vec![("sos", vec![2, 6])]),
            (
                "ellip",
                r#"{"N": 4, "Wn": 100, "rp": 1, "rs": 40, "fs": 1000, "output": "sos"}"#,
                vec![("sos", vec![2, 6])],
            ),
            ("bessel", r#"{"N": 4, "Wn": 0.1, "norm": "mag"}"#, vec![("sos", vec![2, 6])]),
            ("iirnotch", r#"{"w0": 50, "Q": 30, "fs": 1000}"#, vec![("b", vec![3]), ("a", vec![3])]),
            ("iirpeak", r#"{"w0": 0.5, "Q": 30}"#, vec![("b", vec![3]), ("a", vec![3])]),
            ("firwin", r#"{"numtaps": 11, "cutoff": 0.3}"#, vec![("h", vec![11])]),
            ("firwin2", r#"{"numtaps": 11, "freq": [0, 1], "gain": [1, 0], "window": null}"#, vec![("h", vec![11])]),
            ("kaiserord", r#"{"ripple": 60, "width": 0.1}"#, vec![("numtaps", vec![]), ("beta", vec![])]),
            ("savgol_coeffs", r#"{"window_length": 5, "polyorder": 2, "pos": 0, "use": "dot"}"#, vec![("c", vec![5])]),
            ("get_window", r#"{"window": "hann", "Nx": 8}"#, vec![("w", vec![8])]),
            ("sosfilt_zi", r#"{"sos": [[1, 0, 0, 1, 0.5, 0]]}"#, vec![("zi", vec![1, 2])]),
            ("correlation_lags", r#"{"in1_len": 5, "in2_len": 3, "mode": "same"}"#, vec![("lags", vec![5])]),
        ] {
            assert_eq!(shapes(name, params), expected, "{name}");
        }
    }

    #[test]
    fn defaults_are_those_of_scipy() {
        let same = |name, short, long| assert_eq!(call(name, short).unwrap(), call(name, long).unwrap());
        same("bessel", r#"{"N": 4, "Wn": 0.1}"#, r#"{"N": 4, "Wn": 0.1, "norm": "phase", "btype": "lp", "fs": 2}"#);
        same(
            "firwin",
            r#"{"numtaps": 11, "cutoff": 0.3}"#,
            r#"{"numtaps": 11, "cutoff": [0.3], "window": "hamming", "pass_zero": "lowpass", "scale": true, "fs": 2}"#,
        );
        same(
            "firwin2",
            r#"{"numtaps": 11, "freq": [0, 1], "gain": [1, 0]}"#,
            r#"{"numtaps": 11, "freq": [0, 1], "gain": [1, 0], "window": "hamming", "nfreqs": 17, "antisymmetric": false}"#,
        );
        same(
            "savgol_coeffs",
            r#"{"window_length": 5, "polyorder": 2}"#,
            r#"{"window_length": 5, "polyorder": 2, "deriv": 0, "delta": 1, "pos": 2, "use": "conv"}"#,
        );
    }

    #[test]
    fn what_a_caller_gets_wrong_is_named() {
        let message = |name: &str, params: &str| call(name, params).unwrap_err().to_string();
        assert!(message("cheby1", r#"{"N": 3, "Wn": 0.1}"#).contains("'rp'"));
        assert!(message("ellip", r#"{"N": 3, "Wn": 0.1, "rp": 3, "rs": 1}"#).contains("above rp = 3"));
        assert!(message("bessel", r#"{"N": 3, "Wn": 0.1, "norm": "x"}"#).contains("\"delay\""));
        assert!(message("iirnotch", r#"{"w0": 2, "Q": 30}"#).contains("below 1"));
        let with = |pass_zero| format!(r#"{{"numtaps": 12, "cutoff": 0.3, "pass_zero": {pass_zero}}}"#);
        assert!(message("firwin", &with("\"high\"")).contains("\"highpass\""));
        assert!(message("firwin", &with("3")).contains("not true or false"));
        assert!(message("firwin", &with("false")).contains("odd number such as 13"));
        let periodic = r#"{"numtaps": 11, "cutoff": 0.3, "window": "hann_periodic"}"#;
        assert!(message("firwin", periodic).contains("symmetric form"));
        assert!(message("firwin2", r#"{"numtaps": 3, "freq": [0, 1], "gain": [1]}"#).contains("one gain for each"));
    }
}

//! The real device report and the real environment, each case in a process of its own.

use std::process::Command;

use dspk::runtime;

/// Runs [`child`] under these variables and gives back what it printed.
fn run(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]).env_remove("DSPK_RUNTIME").env("DSPK_TEST_CHILD", "1");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// What the other tests start: tells what is chosen, and holds on any machine and under any variables.
#[test]
fn child() {
    let record = runtime::resolve_device(false);
    let current = runtime::current();
    assert_eq!(record.usable, current.is_ok(), "{record:?} {current:?}");
    if std::env::var_os("DSPK_TEST_CHILD").is_some() {
        let report = runtime::report(false);
        println!("chosen={current:?}\n{}\n{:#}", report.text(), report.json(&[]));
    }
}

#[test]
fn the_environment_chooses_strictly() {
    assert!(run(&[("DSPK_RUNTIME", " CPU ")]).contains("chosen=Ok(\"cpu\")"));
    let unknown = run(&[("DSPK_RUNTIME", "abacus")]);
    assert!(unknown.contains("chosen=Err(UnknownRuntime: DSPK_RUNTIME=abacus"), "{unknown}");
    for empty in ["", "  ", "auto"] {
        assert!(run(&[("DSPK_RUNTIME", empty)]).contains("chosen=Ok("), "'{empty}'");
    }
    if !runtime::available().contains(&"cuda") {
        let text = run(&[("DSPK_RUNTIME", "cuda")]);
        assert!(text.contains("chosen=Err(NotCompiled: DSPK_RUNTIME=cuda"), "{text}");
    }
}

/// Field case: the Vulkan loader is there, but its list of drivers leads nowhere.
#[cfg(target_os = "linux")]
#[test]
fn without_vulkan_drivers_the_cpu_is_chosen_and_wgpu_says_why() {
    let nowhere = [("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")];
    let text = run(&nowhere);
    let others = runtime::available().iter().any(|name| !matches!(*name, "wgpu" | "cpu"));
    assert!(others || text.contains("chosen=Ok(\"cpu\")"), "{text}");
    assert!(text.contains("not detected: ") || text.contains("detected, not usable: "), "{text}");
    if runtime::available().contains(&"wgpu") {
        let text = run(&[nowhere[0], nowhere[1], ("DSPK_RUNTIME", "wgpu")]);
        assert!(text.contains("chosen=Err(Unavailable: DSPK_RUNTIME=wgpu"), "{text}");
    }
}

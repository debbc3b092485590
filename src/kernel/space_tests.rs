//! Every kernel with every legal setting: valid, and accepted by the writers for Vulkan, Metal and DirectX. Settings that
//! a `const_assert` of the kernel rules out are not part of its space.

use super::compose::build;
use super::*;

/// The cross product of legal values: complete while it is small, else every value of each setting at least once.
fn combinations(settings: &[Tunable]) -> Vec<Settings> {
    let count: usize = settings.iter().map(|t| t.legal.len()).product();
    let longest = settings.iter().map(|t| t.legal.len()).max().unwrap_or(1);
    let pick = |index: usize, odd: bool| -> Settings {
        let mut rest = index;
        let mut all = Settings::new();
        for (nth, t) in settings.iter().enumerate() {
            let at = if odd { index + nth * (index / t.legal.len() + 1) } else { rest };
            all.insert(t.name, t.legal[at % t.legal.len()]);
            rest /= t.legal.len();
        }
        all
    };
    if count <= 48 {
        (0..count).map(|i| pick(i, false)).collect()
    } else {
        (0..longest * 3).map(|i| pick(i, true)).collect()
    }
}

/// Where a setting has very many values: each of some values of each setting alone, where no `const_assert` rules it out.
/// The operation that has such a kernel tests the combinations it uses with [`is_written_everywhere`].
fn single(source: &Source, settings: &[Tunable]) -> Vec<Settings> {
    let some = |t: &Tunable| t.legal.iter().copied().step_by(t.legal.len().div_ceil(16)).collect::<Vec<_>>();
    settings
        .iter()
        .flat_map(|t| some(t).into_iter().map(|value| Settings::from([(t.name, value)])))
        .filter(|chosen| super::compose::permits(source, chosen).unwrap())
        .collect()
}

/// Whether the writers for every target accept a composed kernel.
pub(crate) fn is_written_everywhere(kernel: &Kernel) -> Result<(), String> {
    let reflected = reflect::reflect(&kernel.text).map_err(|e| e.message)?;
    write(&reflected, &format!("{}-{:032x}", kernel.name.replace('/', "-"), kernel.hash))
}

/// Writes for every target; with `DSPK_SPIRV_DIR` the SPIR-V stays there, for spirv-val.
fn write(reflected: &reflect::Reflected, name: &str) -> Result<(), String> {
    let (module, info) = (&reflected.module, &reflected.info);
    let entry = || (naga::ShaderStage::Compute, "main".to_string());
    let options = naga::back::spv::PipelineOptions { shader_stage: entry().0, entry_point: entry().1 };
    let spv = naga::back::spv::Options { lang_version: (1, 3), ..Default::default() };
    let words = naga::back::spv::write_vec(module, info, &spv, Some(&options)).map_err(|e| format!("SPIR-V: {e}"))?;
    if let Some(folder) = std::env::var_os("DSPK_SPIRV_DIR") {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.spv")), bytes).map_err(|e| e.to_string())?;
    }
    let msl = naga::back::msl::Options { lang_version: (2, 4), ..Default::default() };
    let (_, written) =
        naga::back::msl::write_string(module, info, &msl, &Default::default()).map_err(|e| format!("MSL: {e}"))?;
    written.entry_point_names.into_iter().collect::<Result<Vec<_>, _>>().map_err(|e| format!("MSL: {e}"))?;
    let hlsl = naga::back::hlsl::Options { shader_model: naga::back::hlsl::ShaderModel::V6_0, ..Default::default() };
    let pipeline = Default::default();
    let mut text = String::new();
    let written = naga::back::hlsl::Writer::new(&mut text, &hlsl, &pipeline)
        .write(module, info, None)
        .map_err(|e| format!("HLSL: {e}"))?;
    written.entry_point_names.into_iter().collect::<Result<Vec<_>, _>>().map_err(|e| format!("HLSL: {e}"))?;
    Ok(())
}

#[test]
fn every_kernel_composes_and_is_written_for_every_target() {
    for source in sources().iter().filter(|s| !s.name.starts_with("shared/")) {
        let tunes = combinations(&tunables(source).unwrap());
        let special = specialisations(source).unwrap();
        let specials = match special.iter().map(|t| t.legal.len()).max() {
            Some(longest) if longest > 100 => single(source, &special),
            _ => combinations(&special),
        };
        let pairs: Vec<_> = if tunes.len() * specials.len() <= 64 {
            tunes.iter().flat_map(|t| specials.iter().map(move |s| (t, s))).collect()
        } else {
            (0..tunes.len().max(specials.len()))
                .map(|i| (&tunes[i % tunes.len()], &specials[i % specials.len()]))
                .collect()
        };
        for (nth, (tuned, special)) in pairs.into_iter().enumerate() {
            let what = || format!("{} {tuned:?} {special:?}", source.name);
            let (_, reflected) = build(source, tuned, special).unwrap_or_else(|e| panic!("{}: {e}", what()));
            write(&reflected, &format!("{}-{nth}", source.name.replace('/', "-")))
                .unwrap_or_else(|e| panic!("{}: {e}", what()));
        }
    }
}

#[test]
fn every_name_is_its_file() {
    let mut files = Vec::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    for family in std::fs::read_dir(&root).unwrap() {
        let family = family.unwrap().path();
        for file in std::fs::read_dir(&family).unwrap() {
            let name = file.unwrap().path().with_extension("");
            files.push(name.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"));
        }
    }
    files.sort();
    let mut names: Vec<_> = sources().iter().map(|s| s.name.to_string()).collect();
    names.sort();
    assert_eq!(files, names);
}

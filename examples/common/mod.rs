//! What the examples share: recordings, and a font for their pictures.

use std::path::Path;

use plotters::style::FontStyle;

/// A recording as stored: little-endian int16, all channels of a sample side by side.
pub fn recording(name: &str) -> std::io::Result<Vec<i16>> {
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name))?;
    Ok(bytes.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect())
}

/// Registers the first font found where systems keep them; without one the picture has no text.
pub fn register_font() -> bool {
    const PLACES: [&str; 7] = [
        "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
        "/usr/share/fonts/TTF/DejaVuSans.ttf",
        "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
        "/System/Library/Fonts/Supplemental/Arial.ttf",
        "/Library/Fonts/Arial.ttf",
        "C:\\Windows\\Fonts\\arial.ttf",
    ];
    PLACES.iter().filter_map(|path| std::fs::read(path).ok()).any(|bytes| {
        // plotters keeps fonts for the life of the program.
        plotters::style::register_font("sans-serif", FontStyle::Normal, bytes.leak()).is_ok()
    })
}

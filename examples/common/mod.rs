//! What the examples share: the recording, and a font for their pictures.

use plotters::style::FontStyle;

pub const CHANNELS: usize = 32;
pub const RATE: f64 = 1000.0;
pub const MICROVOLTS_PER_STEP: f64 = 0.5;

/// The recording as stored: little-endian int16, all channels of a sample side by side.
pub fn recording() -> std::io::Result<Vec<i16>> {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/eeg_32ch_1000hz.i16"))?;
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

//! The direct form over any part of a convolution, sixteen rows at a time.

use rayon::prelude::*;

use super::kernel::Filter;
use super::plan::{Block, plan};
use crate::signal::{Source, ViewMut};
use crate::simd::{
    self, Level,
    lanes::{BLOCK, Cut, LANES, Lanes, groups},
    stream,
};

/// A piece of a channel is at least this long, and this many times the response.
const SHORTEST_PIECE: usize = 128;
const RESPONSES_PER_PIECE: usize = 2;
/// Frames in a tile.
const TILE: usize = 512;

/// Sums of products of taps and samples.
pub(in crate::ops) struct Direct {
    blocks: Vec<Block>,
    history: usize,
    shortest: usize,
    /// The first result, as counted in the full convolution.
    first: usize,
    /// Of a register tile: 16 or 8.
    outputs: u32,
}

impl Direct {
    /// `taps` are at least one.
    pub fn new(taps: &[f64], first: usize, outputs: u32) -> Self {
        let history = (taps.len() - 1).next_multiple_of(BLOCK);
        Direct { blocks: plan(taps), history, shortest: Self::shortest_piece(taps.len()), first, outputs }
    }

    /// The register tile for this machine's vectors: 16 wants 32 registers.
    pub fn outputs() -> u32 {
        if matches!(simd::level_name(), "avx512" | "neon") { 16 } else { 8 }
    }

    /// Shortest piece that a channel is cut into.
    pub fn shortest_piece(taps: usize) -> usize {
        taps.saturating_mul(RESPONSES_PER_PIECE).max(SHORTEST_PIECE)
    }

    /// Whether channels are so few that they had better be cut in time.
    pub fn by_time(taps: usize, channels: usize, count: usize) -> bool {
        let lanes = LANES * channels.div_ceil(LANES).next_multiple_of(rayon::current_num_threads());
        count >= 2 * Self::shortest_piece(taps) && channels * 4 < lanes * 3
    }

    /// Computes as many results as `y` takes, cut as suits their number.
    pub fn run(&self, level: Level, x: Source<'_>, y: ViewMut<'_>) {
        let (channels, count) = (y.channels(), y.samples());
        let by_time = Self::by_time(self.shortest / RESPONSES_PER_PIECE, channels, count);
        let cut = if by_time { Cut::pieces(channels, count, self.shortest) } else { Cut::whole(count) };
        self.run_cut(level, cut, TILE, x, y);
    }

    /// Computes as many results as `y` takes, with `tile` frames at a time.
    pub(super) fn run_cut(&self, level: Level, cut: Cut, tile: usize, x: Source<'_>, y: ViewMut<'_>) {
        let streamed = stream::pays(y.channels().saturating_mul(y.samples()).saturating_mul(size_of::<f32>()));
        groups(y, cut.len).into_par_iter().enumerate().with_max_len(1).for_each(|(group, mut rows)| {
            let windows = (0..rows.len()).map(|lane| {
                let (channel, piece) = cut.locate(group * LANES + lane);
                let first = (self.first + piece * cut.len) as isize - self.history as isize;
                (channel, first, self.history + cut.len)
            });
            level.run(Filter {
                blocks: &self.blocks,
                lanes: Lanes::windows(x, windows),
                history: self.history,
                len: cut.len,
                rows: &mut rows,
                tile,
                outputs: self.outputs as usize,
                streamed,
            });
        });
    }
}

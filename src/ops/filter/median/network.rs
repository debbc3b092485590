//! Medians of neighbouring windows as one selection network.
//!
//! Sixteen neighbouring windows are computed together, `shared` at a time. Their common samples are sorted once, then the
//! windows part in halves: each half adds the samples that only its own windows have, sorted themselves, and so on down to
//! one window. After each step only those values stay that can still be the wanted one: a value with more smaller ones
//! than the rank, or more larger ones than the rest, is out. What remains is short, so the first sort dominates, and it is
//! paid once for `shared` windows (after Adams, *Fast median filters using separable sorting networks*, 2021).
//!
//! The network is written as expressions, minima and maxima of samples. Equal ones are made once; those that no result
//! needs are never emitted, which turns sorts and merges into selections. The rest gets places that are used again.

use std::collections::HashMap;

/// Windows of a program.
pub(super) const OUTPUTS: usize = 16;

/// A value: a sample of the joint window, or a place for intermediate values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    /// Sample, counted from the first of the first window.
    Sample(usize),
    /// Place.
    Slot(usize),
}

/// The smaller, the larger, or both of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) a: Operand,
    pub(super) b: Operand,
    /// Where the smaller goes.
    pub(super) low: Option<usize>,
    /// Where the larger goes.
    pub(super) high: Option<usize>,
}

/// The steps from samples to the values of rank `width / 2` of 16 windows.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// Where the results stand after the last step.
    pub(super) results: [Operand; OUTPUTS],
    pub(super) slots: usize,
}

impl Program {
    /// The cheapest program for windows of `width` samples.
    pub(super) fn new(width: usize) -> Program {
        let shared = [1, 2, 4, 8, OUTPUTS].into_iter().filter(|s| *s <= width.max(1));
        let programs = shared.map(|s| Builder::new(width.max(1)).build(s));
        // The iterator has an element: windows of one sample share one.
        programs.min_by_key(Program::cost).unwrap_or(Program {
            steps: Vec::new(),
            results: std::array::from_fn(Operand::Sample),
            slots: 0,
        })
    }

    /// Reads, operations and writes.
    fn cost(&self) -> usize {
        self.steps.iter().map(|s| 2 + 2 * (usize::from(s.low.is_some()) + usize::from(s.high.is_some()))).sum()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Sample(usize),
    Min(usize, usize),
    Max(usize, usize),
}

/// Values that can still be wanted, in order, and how many have been left out below them.
struct Sorted {
    values: Vec<usize>,
    below: usize,
    /// Samples it stands for.
    of: usize,
}

struct Builder {
    width: usize,
    nodes: Vec<Node>,
    known: HashMap<Node, usize>,
    results: [usize; OUTPUTS],
}

impl Builder {
    fn new(width: usize) -> Self {
        Builder { width, nodes: Vec::new(), known: HashMap::new(), results: [0; OUTPUTS] }
    }

    fn node(&mut self, node: Node) -> usize {
        *self.known.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }

    fn ordered(&mut self, a: usize, b: usize) -> (usize, usize) {
        let (a, b) = (a.min(b), a.max(b));
        (self.node(Node::Min(a, b)), self.node(Node::Max(a, b)))
    }

    /// Batcher's odd-even merge, which works for any two lengths.
    fn merged(&mut self, a: &[usize], b: &[usize]) -> Vec<usize> {
        match (a, b) {
            ([], rest) | (rest, []) => rest.to_vec(),
            ([a], [b]) => {
                let (low, high) = self.ordered(*a, *b);
                vec![low, high]
            }
            _ => {
                let every_other =
                    |v: &[usize], from: usize| v.iter().skip(from).step_by(2).copied().collect::<Vec<_>>();
                let even = self.merged(&every_other(a, 0), &every_other(b, 0));
                let odd = self.merged(&every_other(a, 1), &every_other(b, 1));
                let mut all = Vec::with_capacity(a.len() + b.len());
                let (mut even, mut odd) = (even.into_iter(), odd.into_iter());
                all.extend(even.next());
                loop {
                    match (odd.next(), even.next()) {
                        (Some(o), Some(e)) => {
                            let (low, high) = self.ordered(o, e);
                            all.extend([low, high]);
                        }
                        (last, None) | (None, last) => {
                            all.extend(last);
                            all.extend(odd.by_ref().chain(even.by_ref()));
                            return all;
                        }
                    }
                }
            }
        }
    }

    fn sorted(&mut self, samples: std::ops::Range<usize>) -> Vec<usize> {
        if samples.len() < 2 {
            return samples.map(|k| self.node(Node::Sample(k))).collect();
        }
        let middle = samples.start + samples.len() / 2;
        let (a, b) = (self.sorted(samples.start..middle), self.sorted(middle..samples.end));
        self.merged(&a, &b)
    }

    /// `known` with more samples, cut to what can still have the wanted rank.
    fn with(&mut self, known: &Sorted, samples: std::ops::Range<usize>) -> Sorted {
        let of = known.of + samples.len();
        let more = self.sorted(samples);
        let values = self.merged(&known.values, &more);
        let rank = self.width / 2;
        // Of rank `i` in all so far, in the end between i and i + what is still to come.
        let first = (of + rank).saturating_sub(self.width).max(known.below);
        let values = values.into_iter().take(rank + 1 - known.below).skip(first - known.below).collect();
        Sorted { values, below: first, of }
    }

    /// The results of `count` windows from `first` on, whose common samples `known` stands for.
    fn windows(&mut self, known: &Sorted, first: usize, count: usize) {
        if count == 1 {
            self.results[first] = known.values[0];
            return;
        }
        let half = count / 2;
        let left = self.with(known, first + half - 1..first + count - 1);
        self.windows(&left, first, half);
        let right = self.with(known, first + self.width..first + self.width + half);
        self.windows(&right, first + half, half);
    }

    fn build(mut self, shared: usize) -> Program {
        for first in (0..OUTPUTS).step_by(shared) {
            let nothing = Sorted { values: Vec::new(), below: 0, of: 0 };
            let common = self.with(&nothing, first + shared - 1..first + self.width);
            self.windows(&common, first, shared);
        }
        self.emit()
    }

    /// Leaves out what no result needs, and gives the rest places.
    fn emit(self) -> Program {
        let operands = |node: Node| match node {
            Node::Sample(_) => None,
            Node::Min(a, b) | Node::Max(a, b) => Some((a, b)),
        };
        // Nodes come after those they are made of.
        let mut last = vec![0; self.nodes.len()];
        self.results.iter().for_each(|r| last[*r] = usize::MAX);
        for id in (0..self.nodes.len()).rev() {
            if let Some((a, b)) = operands(self.nodes[id]).filter(|_| last[id] > 0) {
                // The pair is made when the first of its two is met.
                let made = self.first_of_pair(id, &last);
                (last[a], last[b]) = (last[a].max(made), last[b].max(made));
            }
        }
        let mut places: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let (mut free, mut slots, mut steps) = (Vec::new(), 0, Vec::new());
        let operand = |id: usize, places: &[Option<usize>]| match self.nodes[id] {
            Node::Sample(k) => Operand::Sample(k),
            _ => Operand::Slot(places[id].unwrap_or(0)),
        };
        for id in 0..self.nodes.len() {
            let Some((a, b)) = operands(self.nodes[id]).filter(|_| last[id] > 0 && places[id].is_none()) else {
                continue;
            };
            let (from_a, from_b) = (operand(a, &places), operand(b, &places));
            for done in [a, b].into_iter().filter(|v| last[*v] == id) {
                free.extend(places[done]);
            }
            let mut place = |node: Node| {
                let wanted = self.known.get(&node).copied().filter(|n| last[*n] > 0)?;
                places[wanted] = Some(free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                }));
                places[wanted]
            };
            let (low, high) = (place(Node::Min(a, b)), place(Node::Max(a, b)));
            steps.push(Step { a: from_a, b: from_b, low, high });
        }
        Program { steps, results: self.results.map(|r| operand(r, &places)), slots }
    }

    /// The earlier of the two nodes made of the same values as `id`, among those in use.
    fn first_of_pair(&self, id: usize, last: &[usize]) -> usize {
        let twin = match self.nodes[id] {
            Node::Sample(_) => return id,
            Node::Min(a, b) => Node::Max(a, b),
            Node::Max(a, b) => Node::Min(a, b),
        };
        self.known.get(&twin).copied().filter(|t| last[*t] > 0).map_or(id, |t| t.min(id))
    }
}

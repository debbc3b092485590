//! A map that forgets the entry used longest ago once it is over its bound of count or weight.

use std::collections::HashMap;
use std::hash::Hash;

/// Bounded by the number of entries and by the sum of their weights.
pub(super) struct Lru<K, V> {
    entries: HashMap<K, Entry<V>>,
    clock: u64,
    weight: u64,
    max_count: usize,
    max_weight: u64,
}

struct Entry<V> {
    value: V,
    weight: u64,
    used: u64,
}

impl<K: Hash + Eq + Clone, V: Clone> Lru<K, V> {
    pub(super) fn new(max_count: usize, max_weight: u64) -> Self {
        Lru { entries: HashMap::new(), clock: 0, weight: 0, max_count, max_weight }
    }

    pub(super) fn get(&mut self, key: &K) -> Option<V> {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.used = self.clock;
        Some(entry.value.clone())
    }

    /// Adds an entry and returns the values pushed out, for the caller to drop after releasing its lock.
    pub(super) fn insert(&mut self, key: K, value: V, weight: u64) -> Vec<V> {
        self.clock += 1;
        let mut gone = Vec::new();
        self.weight += weight;
        if let Some(old) = self.entries.insert(key, Entry { value, weight, used: self.clock }) {
            self.weight -= old.weight;
            gone.push(old.value);
        }
        while self.entries.len() > 1 && (self.entries.len() > self.max_count || self.weight > self.max_weight) {
            let Some(oldest) = self.entries.iter().min_by_key(|(_, e)| e.used).map(|(k, _)| k.clone()) else { break };
            gone.extend(self.remove(&oldest));
        }
        gone
    }

    /// Takes out every entry whose key is no longer wanted.
    pub(super) fn remove_where(&mut self, unwanted: impl Fn(&K) -> bool) -> Vec<V> {
        let keys: Vec<K> = self.entries.keys().filter(|k| unwanted(k)).cloned().collect();
        keys.iter().filter_map(|k| self.remove(k)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.weight -= entry.weight;
        Some(entry.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_the_least_recently_used_beyond_the_count() {
        let mut lru = Lru::new(2, u64::MAX);
        assert!(lru.insert(1, "a", 0).is_empty());
        assert!(lru.insert(2, "b", 0).is_empty());
        assert_eq!(lru.get(&1), Some("a"));
        assert_eq!(lru.insert(3, "c", 0), ["b"]);
        assert_eq!((lru.get(&1), lru.get(&2), lru.get(&3)), (Some("a"), None, Some("c")));
    }

    #[test]
    fn forgets_beyond_the_weight_but_keeps_the_newest() {
        let mut lru = Lru::new(10, 100);
        lru.insert(1, 1, 60);
        lru.insert(2, 2, 30);
        assert_eq!(lru.insert(3, 3, 20), [1]);
        assert_eq!(lru.insert(4, 4, 1000), [2, 3]);
        assert_eq!(lru.len(), 1);
        assert_eq!(lru.insert(4, 5, 1), [4]);
        assert!(lru.insert(5, 6, 99).is_empty());
    }

    #[test]
    fn removes_by_key() {
        let mut lru = Lru::new(10, 100);
        (0..6).for_each(|i| drop(lru.insert(i, i, 10)));
        let mut gone = lru.remove_where(|k| k % 2 == 0);
        gone.sort_unstable();
        assert_eq!((gone, lru.len()), (vec![0, 2, 4], 3));
        assert!((10..17).flat_map(|i| lru.insert(i, i, 10)).next().is_none());
    }
}

//! [`MemberDocuments`]: which documents are members of the pool.

use rustc_hash::FxHashMap;

/// The documents of the members.
pub(super) struct MemberDocuments {
    /// Rising, each with the number of its member.
    sorted: Vec<(u32, usize)>,
    /// A bit a document: most questions are answered from few bytes.
    bits: Vec<u64>,
    member_of: FxHashMap<u32, usize>,
}

/// A list of more shares than this times the members is searched for each member; a shorter one is
/// read through.
const SHARES_PER_MEMBER: usize = 16;

impl MemberDocuments {
    /// Numbers the documents of the members, in order.
    pub(super) fn of(documents: impl Iterator<Item = usize>) -> Self {
        let mut bits = Vec::new();
        let mut sorted = Vec::new();
        for (member, document) in documents.enumerate() {
            if bits.len() <= document / 64 {
                bits.resize(document / 64 + 1, 0);
            }
            bits[document / 64] |= 1 << (document % 64);
            sorted.push((document_number(document), member));
        }
        let member_of = sorted.iter().copied().collect();
        sorted.sort_unstable();
        Self { sorted, bits, member_of }
    }

    pub(super) fn n_members(&self) -> usize {
        self.sorted.len()
    }

    /// Calls `f` with every member that has a share; documents rise.
    pub(super) fn for_each_share(&self, shares: &[(u32, f32)], mut f: impl FnMut(usize, f32)) {
        if shares.len() <= SHARES_PER_MEMBER * self.n_members() {
            for (document, share) in shares {
                if self.holds(*document) {
                    f(self.member_of[document], *share);
                }
            }
            return;
        }
        let mut rest = shares;
        for (document, member) in &self.sorted {
            rest = &rest[rest.partition_point(|(other, _)| other < document)..];
            match rest.first() {
                Some((found, share)) if found == document => f(*member, *share),
                Some(_) => {}
                None => return,
            }
        }
    }

    fn holds(&self, document: u32) -> bool {
        let bits = self.bits.get(document as usize / 64).copied().unwrap_or(0);
        bits >> (document % 64) & 1 == 1
    }
}

/// Returns the number of a document as postings have it.
pub(super) fn document_number(document: usize) -> u32 {
    u32::try_from(document).expect("documents are numbered in 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_in_short_lists_and_in_long_ones() {
        let members = MemberDocuments::of([700, 3, 64, 65, 9999].into_iter());
        for step in [1_u32, 2, 7] {
            let shares: Vec<(u32, f32)> =
                (0..2000).step_by(step as usize).map(|n| (n, n as f32)).collect();
            for shares in [&shares[..], &shares[..20], &[]] {
                let mut found = Vec::new();
                members.for_each_share(shares, |member, share| found.push((member, share)));
                found.sort_unstable_by_key(|(member, _)| *member);
                let expected: Vec<(usize, f32)> = [700, 3, 64, 65, 9999]
                    .into_iter()
                    .enumerate()
                    .filter(|(_, document)| shares.iter().any(|(other, _)| other == document))
                    .map(|(member, document)| (member, document as f32))
                    .collect();
                assert_eq!(found, expected);
            }
        }
    }
}

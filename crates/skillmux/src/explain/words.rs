//! Shows the terms of a query as the words that the query writes.

use std::{cmp::Reverse, ops::Range};

use rustc_hash::FxHashSet;

use crate::{
    query::QueryTerm,
    text::{is_character_pair, parts_of},
};

/// Returns the words behind weighted terms by falling weight, each once.
///
/// Overlapping pairs of characters are joined: `数据` and `据库` are shown as `数据库`.
pub(super) fn rarest_first(query: &str, terms: &[(f32, &QueryTerm)]) -> Vec<String> {
    let mut places: Vec<(f32, Range<usize>)> = Vec::new();
    let mut pairs: Vec<(f32, Range<usize>)> = Vec::new();
    for (weight, term) in terms {
        if is_character_pair(&term.text) {
            pairs.extend(term.sources.iter().map(|source| (*weight, source.clone())));
        } else if let Some(source) = term.sources.first() {
            places.push((*weight, source.clone()));
        }
    }
    pairs.sort_by_key(|(_, source)| source.start);
    let mut joined: Option<(f32, Range<usize>)> = None;
    for (weight, source) in pairs {
        match &mut joined {
            Some((most, whole)) if source.start < whole.end => {
                *most = most.max(weight);
                whole.end = source.end;
            }
            _ => places.extend(joined.replace((weight, source))),
        }
    }
    places.extend(joined);
    places.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.start.cmp(&b.1.start)));
    let mut seen = FxHashSet::default();
    let words = places.into_iter().map(|(_, source)| &query[source]);
    words.filter(|word| seen.insert(*word)).map(str::to_owned).collect()
}

/// Returns the terms that are no parts of others: `WireGuard`, without `Wire` and `Guard`.
pub(super) fn without_parts<'q>(terms: &[(f32, &'q QueryTerm)]) -> Vec<(f32, &'q QueryTerm)> {
    let mut sources: Vec<&Range<usize>> =
        terms.iter().flat_map(|(_, term)| &term.sources).collect();
    sources.sort_by_key(|source| (source.start, Reverse(source.end)));
    sources.dedup();
    // What begins at the same place or before and ends later, or at the same place, holds it.
    let mut inside = FxHashSet::default();
    let mut end = 0;
    for source in sources {
        if source.end <= end {
            inside.insert(source);
        }
        end = end.max(source.end);
    }
    let is_part = |term: &QueryTerm| {
        !is_character_pair(&term.text) && term.sources.iter().all(|source| inside.contains(source))
    };
    terms.iter().filter(|(_, term)| !is_part(term)).copied().collect()
}

/// Returns the words that are no parts of another one among them, in their order: `PowerPoint`,
/// without `Power` and `Point`. So a list such as [`matched`](super::Explanation::matched) is shown.
pub fn whole_words(words: &[String]) -> Vec<String> {
    let parts: FxHashSet<&str> = words.iter().flat_map(|word| parts_of(word)).collect();
    words.iter().filter(|word| !parts.contains(word.as_str())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        index::{Index, UpdateOptions},
        library::Library,
        query::Query,
        route::Router,
    };

    /// Returns the words of the terms with these texts, each with its weight.
    fn words(text: &str, shown: &[(&str, f32)]) -> Vec<String> {
        let terms = Query::new(text).unwrap().terms();
        let weight_of = |term: &QueryTerm| shown.iter().find(|(text, _)| *text == term.text);
        let shown: Vec<_> =
            terms.iter().filter_map(|term| Some((weight_of(term)?.1, term))).collect();
        rarest_first(text, &shown)
    }

    #[test]
    fn words_come_by_weight_and_as_the_query_first_writes_them() {
        let shown = [("merg", 1.0), ("tabl", 2.0)];
        assert_eq!(words("Merging tables: merge the Tables", &shown), ["tables", "Merging"]);
    }

    #[test]
    fn overlapping_pairs_are_one_word() {
        let shown = [("数据", 1.0), ("据库", 2.0), ("查询", 1.5)];
        assert_eq!(words("数据库的慢查询", &shown), ["数据库", "查询"]);
    }

    #[test]
    fn neighbouring_pairs_without_overlap_stay_apart() {
        assert_eq!(words("查询数据", &[("查询", 1.0), ("数据", 1.0)]), ["查询", "数据"]);
    }

    #[test]
    fn a_pair_is_joined_wherever_it_stands() {
        let shown = [("数据", 1.0), ("据库", 2.0), ("据表", 3.0)];
        assert_eq!(words("数据库和数据表", &shown), ["数据表", "数据库"]);
    }

    #[test]
    fn parts_of_an_identifier_are_not_joined() {
        let shown = [("pdf", 1.0), ("tabl", 2.0), ("pdftabl", 3.0)];
        assert_eq!(words("pdf-table", &shown), ["pdf-table", "table", "pdf"]);
    }

    #[test]
    fn parts_of_a_missing_name_are_not_told() {
        let missing = |text: &str, lacking: &[&str]| {
            let terms = Query::new(text).unwrap().terms();
            let terms: Vec<_> =
                terms.iter().filter(|term| lacking.contains(&term.text.as_str())).collect();
            let terms: Vec<_> = terms.into_iter().map(|term| (1.0, term)).collect();
            rarest_first(text, &without_parts(&terms))
        };
        let all = ["wire", "guard", "wireguard", "vpn"];
        assert_eq!(missing("a WireGuard VPN", &all), ["WireGuard", "VPN"]);
        assert_eq!(missing("a WireGuard VPN", &all[..2]), ["Wire", "Guard"]);
        assert_eq!(missing("WireGuard, with a wire", &all), ["Wire", "WireGuard"]);
    }

    #[test]
    fn parts_of_a_word_are_not_shown_beside_it() {
        let whole = |words: &[&str]| {
            whole_words(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(
            whole(&["PowerPoint", "deck", "Power", "make", "Point"]),
            ["PowerPoint", "deck", "make"]
        );
        assert_eq!(whole(&["wi-fi", "wi", "fi"]), ["wi-fi"]);
        assert_eq!(whole(&["pdf_tables", "tables", "pdfs"]), ["pdf_tables", "pdfs"]);
        for words in [&["maker", "make"][..], &["Power", "make", "Point"], &["数据库", "数据"], &[]]
        {
            assert_eq!(whole(words), words);
        }
    }

    #[test]
    fn only_pairs_that_some_skill_holds_can_be_missing() {
        let dir = tempfile::tempdir().unwrap();
        let (skills, index) = (dir.path().join("skills"), dir.path().join("index"));
        for (name, body) in [("slow-query", "慢查询分析"), ("table-export", "导出表格")] {
            std::fs::create_dir_all(skills.join(name)).unwrap();
            let text = format!("---\nname: {name}\ndescription: 数据库\n---\n{body}\n");
            std::fs::write(skills.join(name).join("SKILL.md"), text).unwrap();
        }
        let library = Library::open([&skills]).unwrap();
        Index::update(&index, &library, &UpdateOptions::default(), &mut |_| {}).unwrap();
        let router = Router::open(&index).unwrap();

        let query = Query::new("数据库慢查询，另外导出 zebra").unwrap();
        let found = router.search_explained(&query, 1).unwrap();
        let explanation = &found[0].explanation;
        // `库慢`, `另外` and `外导` are in no skill; a word that no skill holds is still missing.
        assert_eq!(explanation.matched, ["慢查询", "数据库"]);
        assert_eq!(explanation.missing, ["zebra", "导出"]);
        assert!(explanation.coverage > 0.3 && explanation.coverage < 0.9);
    }
}

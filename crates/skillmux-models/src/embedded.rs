//! The models that need no file of their own.

use std::sync::LazyLock;

use serde::Serialize;
use skillmux::{
    compose::{Calibrations, SetWeights},
    decompose::AskingWeights,
    model::{PairScorer, Speller, SubjectWords, TokenEncoder, Translator},
    page::PagerWeights,
    rerank::RankerWeights,
    retrieve::WorkWeights,
    skill::KindWeights,
};

use crate::{
    lexicon::{self, Chinese, Lexicons},
    speller::VocabularySpeller,
    static_encoder::{self, StaticEncoder},
    subject_words::SubjectList,
    transformer::{self, TransformerEncoder},
    translated::TranslatedEncoder,
};

const ABSTENTION: &str = include_str!("../assets/abstention.json");

const ABSTENTION_MODEL: EmbeddedModel = EmbeddedModel {
    name: "abstention",
    kind: ModelKind::Calibration,
    n_bytes: ABSTENTION.len(),
    trained_on: "2,100 prompts of queries-train and 3,000 tasks of our own that a skill answers, and 1,000 \
                 requests that none answers, over libraries of 27 to 78,132 skills",
};

const COMPOSER: &str = include_str!("../assets/composer.json");

const COMPOSER_MODEL: EmbeddedModel = EmbeddedModel {
    name: "composer",
    kind: ModelKind::Composer,
    n_bytes: COMPOSER.len(),
    trained_on: "tasks of our own with one to five skills, and prompts of queries-train, over \
                 libraries of 50 to 78,132 skills",
};

const ASKING: &str = include_str!("../assets/asking.json");

const ASKING_MODEL: EmbeddedModel = EmbeddedModel {
    name: "asking",
    kind: ModelKind::Asking,
    n_bytes: ASKING.len(),
    trained_on: "the sentences that ask for something in 428 requests, half of them long ones",
};

const ENCODER: &[u8] = include_bytes!("../assets/encoder.bin");

/// Beginning of the hash of [`ENCODER`], which takes milliseconds to compute.
const ENCODER_FINGERPRINT: &str = "2586d7a3be0e44af";

const ENCODER_MODEL: EmbeddedModel = EmbeddedModel {
    name: "encoder",
    kind: ModelKind::Encoder,
    n_bytes: ENCODER.len(),
    trained_on: "40,658 prompts of queries-train, the names, descriptions, headings and bodies of \
                 78,080 skills, and pairs of Chinese and English skills",
};

const KINDS: &str = include_str!("../assets/kinds.json");

const KINDS_MODEL: EmbeddedModel = EmbeddedModel {
    name: "kinds",
    kind: ModelKind::Kinds,
    n_bytes: KINDS.len(),
    trained_on: "the kinds of 2,033 parts of 96 skills, labelled by a language model",
};

const LEXICON_MODEL: EmbeddedModel = EmbeddedModel {
    name: "lexicon",
    kind: ModelKind::Lexicon,
    n_bytes: lexicon::N_BYTES,
    trained_on: "words of eight languages that language models translated, and lines of skills that exist \
                 in Chinese and in English",
};

const PAGER: &str = include_str!("../assets/pager.json");

const PAGER_MODEL: EmbeddedModel = EmbeddedModel {
    name: "pager",
    kind: ModelKind::Pager,
    n_bytes: PAGER.len(),
    trained_on: "1,778 questions of our own about 593 skills, with the bytes that answer them",
};

const RANKER: &str = include_str!("../assets/ranker.json");

const RANKER_MODEL: EmbeddedModel = EmbeddedModel {
    name: "ranker",
    kind: ModelKind::Ranker,
    n_bytes: RANKER.len(),
    trained_on: "prompts of queries-train that the encoder was not trained on, and long tasks of our \
                 own, over a library of 78,080 skills",
};

const TRANSFORMER_MODEL: EmbeddedModel = EmbeddedModel {
    name: "transformer",
    kind: ModelKind::Transformer,
    n_bytes: skillmux_transformer_embeddings::TENSORS.len()
        + skillmux_transformer_embeddings::VOCABULARY.len()
        + skillmux_transformer_layers::TENSORS.len(),
    trained_on: "all-MiniLM-L6-v2 (Apache-2.0), tuned on 85,475 pairs: prompts of queries-train, our tasks \
                 in other words, long tasks, translations and stretches of skills",
};

const VERIFIER_MODEL: EmbeddedModel = EmbeddedModel {
    name: "verifier",
    kind: ModelKind::Verifier,
    n_bytes: skillmux_transformer_layers::VERIFIER.len(),
    trained_on: "14,680 pairs of a request and a skill: tasks of our own, and requests near a skill \
                 that it does not serve",
};

const WORK: &str = include_str!("../assets/work.json");

/// Words of the base of the transformer that its pruned vocabulary lacks, one a line: they are no
/// typing errors. Its command is in `training/transformer/README.md`.
const WORDS: &str = include_str!("../assets/words.txt");

const WORK_MODEL: EmbeddedModel = EmbeddedModel {
    name: "work",
    kind: ModelKind::Work,
    n_bytes: WORK.len(),
    trained_on: "37,192 tasks that ask for work, and 3,205 messages that need no skill",
};

/// A model inside the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EmbeddedModel {
    /// Name; its card is `assets/NAME.md`, of the lexicon in the crate `skillmux-lexicons`.
    pub name: &'static str,
    /// What it is for.
    pub kind: ModelKind,
    /// Bytes in the binary.
    pub n_bytes: usize,
    /// Which data it was trained on.
    pub trained_on: &'static str,
}

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelKind {
    /// Tells what a task asks for.
    Asking,
    /// Tells how likely the best skill helps.
    Calibration,
    /// Tells which skills belong together for a task.
    Composer,
    /// Turns texts into vectors.
    Encoder,
    /// Tells what the parts of a skill are.
    Kinds,
    /// Says Chinese words in English.
    Lexicon,
    /// Tells which parts of a skill are needed.
    Pager,
    /// Ranks the best candidates again.
    Ranker,
    /// Turns whole texts into vectors, in their context.
    Transformer,
    /// Tells whether a skill serves a task.
    Verifier,
    /// Tells work from talk.
    Work,
}

impl ModelKind {
    /// Returns the name that JSON has, too.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asking => "asking",
            Self::Calibration => "calibration",
            Self::Composer => "composer",
            Self::Encoder => "encoder",
            Self::Kinds => "kinds",
            Self::Lexicon => "lexicon",
            Self::Pager => "pager",
            Self::Ranker => "ranker",
            Self::Transformer => "transformer",
            Self::Verifier => "verifier",
            Self::Work => "work",
        }
    }
}

/// Returns the models inside the binary, by name.
pub fn embedded_models() -> &'static [EmbeddedModel] {
    const {
        &[
            ABSTENTION_MODEL,
            ASKING_MODEL,
            COMPOSER_MODEL,
            ENCODER_MODEL,
            KINDS_MODEL,
            LEXICON_MODEL,
            PAGER_MODEL,
            RANKER_MODEL,
            TRANSFORMER_MODEL,
            VERIFIER_MODEL,
            WORK_MODEL,
        ]
    }
}

/// Returns the calibrations by which the binary abstains; their card is `assets/abstention.md`.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn abstention() -> Calibrations {
    serde_json::from_str(ABSTENTION).expect("the embedded calibrations are well-formed")
}

/// Returns the weights by which the binary tells what a task asks for; their card is
/// `assets/asking.md`.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn asking() -> AskingWeights {
    serde_json::from_str(ASKING).expect("the embedded weights are well-formed")
}

/// Returns the weights by which the binary adds skills to a plan; their card is
/// `assets/composer.md`.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn composer() -> SetWeights {
    serde_json::from_str(COMPOSER).expect("the embedded weights are well-formed")
}

/// Returns the encoder of the binary, in some milliseconds; its card is `assets/encoder.md`.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn encoder() -> StaticEncoder {
    StaticEncoder::known(ENCODER, ENCODER_FINGERPRINT).expect("the embedded encoder is well-formed")
}

/// Returns the weights that tell the kinds of parts, where a user prefers them to the rules; their
/// card is `assets/kinds.md`.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn kinds() -> KindWeights {
    serde_json::from_str(KINDS).expect("the embedded weights are well-formed")
}

/// Returns the weights by which the binary chooses the parts of skills, with [`encoder`] and with
/// [`transformer`]; their card is `assets/pager.md`.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn pager() -> PagerWeights {
    serde_json::from_str(PAGER).expect("the embedded weights are well-formed")
}

/// Returns what knows the words of the embedded encoders; it reads them when it is first asked.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn speller() -> impl Speller {
    EmbeddedSpeller(LazyLock::new(|| {
        let words = skillmux_transformer_embeddings::VOCABULARY.lines().chain(WORDS.lines());
        let terms = static_encoder::terms(ENCODER).expect("the embedded encoder is well-formed");
        VocabularySpeller::new(words, terms)
    }))
}

struct EmbeddedSpeller(LazyLock<VocabularySpeller<'static>>);

impl Speller for EmbeddedSpeller {
    fn is_spelled_right(&self, word: &str) -> bool {
        self.0.is_spelled_right(word) || SUBJECTS.has(word) || LEXICONS.has(word)
    }

    fn has_whole_word(&self, word: &str) -> bool {
        self.0.has_whole_word(word)
    }

    fn nearest(&self, word: &str, more: &[String]) -> Vec<String> {
        self.0.nearest(word, more)
    }
}

/// Returns what knows which words name a subject; its card is `subjects.md` of the crate
/// `skillmux-lexicons`.
pub fn subject_words() -> impl SubjectWords {
    SUBJECTS
}

const SUBJECTS: SubjectList = SubjectList(skillmux_lexicons::SUBJECTS);

/// Returns what says words of other languages in English; it reads each list when it is first
/// needed. The card is `lexicon.md` of the crate `skillmux-lexicons`.
pub fn translator() -> impl Translator {
    &*LEXICONS
}

/// The word lists of other languages; each is read when it is first needed.
static LEXICONS: LazyLock<Lexicons> = LazyLock::new(Lexicons::embedded);

/// Returns the transformer of the binary, in some twenty milliseconds; its card is
/// `assets/transformer.md`. It reads Chinese texts as the lexicon says them in English.
///
/// # Panics
/// Never: a test reads the files that are compiled in.
pub fn transformer() -> impl TokenEncoder {
    let of_lexicon = blake3::hash(skillmux_lexicons::CHINESE.as_bytes()).to_hex();
    TranslatedEncoder::new(TransformerEncoder::embedded(), Chinese, &of_lexicon[..8])
}

/// Returns what reads a task and a skill together, and says whether the skill serves the task; its
/// card is `assets/verifier.md`. It shares the weights of [`transformer`].
///
/// # Panics
/// Never: a test reads the files that are compiled in.
pub fn verifier() -> impl PairScorer {
    transformer::verifier(Box::new(Chinese))
}

/// Returns the weights by which the binary tells work from talk, one for each of its encoders;
/// their card is `assets/work.md`.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn work() -> Vec<WorkWeights> {
    serde_json::from_str(WORK).expect("the embedded weights are well-formed")
}

/// Returns the weights by which the binary ranks candidates; their card is `assets/ranker.md`.
///
/// # Panics
/// Never: a test reads the file that is compiled in.
pub fn ranker() -> RankerWeights {
    serde_json::from_str(RANKER).expect("the embedded weights are well-formed")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skillmux::{
        compose::{Calibration, Features},
        model::Encoder,
        rerank::{LinearReranker, Reranker},
        retrieve::{PoolRetriever, RankingIdentity},
    };

    use super::*;

    #[test]
    fn the_known_fingerprint_is_that_of_the_encoder() {
        let read = StaticEncoder::from_bytes(ENCODER).unwrap();
        assert_eq!(read.identity().fingerprint, ENCODER_FINGERPRINT);
    }

    /// Returns the cosine of a query with a text.
    fn cosine(encoder: &StaticEncoder, query: &str, text: &str) -> f32 {
        let (a, b) = (encoder.encode_queries(&[query]).unwrap(), encoder.encode(&[text]).unwrap());
        a.iter().zip(&b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn the_encoder_knows_synonyms_and_both_languages() {
        let encoder = encoder();
        let slides = "Build presentations and slide decks in PowerPoint";
        let database = "Optimise slow SQL queries and database indexes";
        for (query, near, far) in [
            ("生成演示文稿和幻灯片", slides, database),
            ("数据库慢查询优化", database, slides),
            ("a pptx for the board meeting", slides, database),
            ("postgres is too slow", database, slides),
        ] {
            let (near, far) = (cosine(&encoder, query, near), cosine(&encoder, query, far));
            assert!(near > far + 0.1, "{query}: {near} {far}");
        }
    }

    #[test]
    fn the_pager_finds_a_part_by_its_meaning() {
        use skillmux::{
            page::{PageRequest, Pager, PartList, TermSource, ValuePager},
            skill::{NodeTree, Skill, SkillId},
        };
        let body = "# Scans\n\n## Order\n\nPut the pages in a row by their numbers first of all.\n\n\
                    ## Trouble\n\nA crooked image is straightened by the deskew filter.\n\n\
                    ## Export\n\nWrite the result to a folder that you own yourself.\n";
        let skill = Skill {
            id: SkillId::new("scans"),
            name: "scans".into(),
            description: String::new(),
            body: body.into(),
            source: "tests".into(),
        };
        let terms = TermSource { terms: &|_, _| (), idf: &|_| 1.0 };
        let page = ValuePager::new(pager().texts, Arc::new(encoder())).page(&PageRequest {
            skill: &skill,
            nodes: &NodeTree::parse(body),
            query: "the picture is tilted, straighten the image",
            terms: &terms,
            budget_tokens: 24,
            had: PartList::none(),
        });
        assert_eq!(page.nodes.len(), 1);
        assert!(page.nodes[0].text.contains("crooked"), "{}", page.nodes[0].text);
    }

    #[test]
    fn what_asks_is_told_from_what_tells() {
        use skillmux::decompose::pieces;
        for (task, asked) in [
            (
                "The printer in the hall broke down in May, and nobody ordered a new one. Ann wrote \
                 three mails to the shop. What I need is a list of all printers with their prices. \
                 The hall is painted blue.",
                "What I need is",
            ),
            (
                "上个月仓库漏水，几箱纸全泡坏了，老王为此跑了三趟。请帮我写一份给保险公司的说明。\
                 仓库是前年租的。",
                "请帮我",
            ),
        ] {
            let all = pieces(task);
            let probability = |at: &usize| asking().probability(&all[*at].features);
            let places: Vec<usize> = (0..all.len()).collect();
            let best = places.iter().max_by(|a, b| probability(a).total_cmp(&probability(b)));
            let best = all[*best.unwrap()].range.clone();
            assert!(task[best.clone()].trim().starts_with(asked), "{}", &task[best]);
        }
    }

    #[test]
    fn a_long_story_does_not_push_out_what_is_asked_for() {
        use skillmux::{
            decompose::{ByClause, Decomposer},
            query::{Need, Query},
        };
        let story = "The harbour has nine piers and a crane, which was built in 1911. ".repeat(12);
        let task =
            format!("{story}Please count the ships of last week. 然后请帮我把结果整理成表格。");
        let needs = ByClause::with_asking(asking()).decompose(&Query::new(task).unwrap()).unwrap();
        let texts: Vec<&str> = needs.iter().map(Need::text).collect();
        let asked = ["Please count the ships of last week.", "然后请帮我把结果整理成表格。"];
        assert!(texts.ends_with(&asked), "{texts:?}");
    }

    #[test]
    fn kinds_are_told_by_words_and_headings() {
        use skillmux::skill::{KindClassifier, NodeKind, NodeTree};
        let body = "# Scans\n\n## Installation\n\n```bash\npip install scans\n```\n\n\
                    ## Troubleshooting\n\nIf a page is black, scan it again with more light.\n\n\
                    ## Overview\n\nThis skill joins scans into one document.\n";
        let told = kinds().kinds(body, &NodeTree::parse(body));
        assert_eq!(told, [NodeKind::Step, NodeKind::ErrorHandling, NodeKind::Concept]);
    }

    #[test]
    fn rows_have_length_one_or_are_zero() {
        let encoder = encoder();
        let rows = encoder.encode(&["merge pdf files", "", "合并表格", "the of"]).unwrap();
        let lengths: Vec<f32> =
            rows.chunks(encoder.dim()).map(|row| row.iter().map(|x| x * x).sum()).collect();
        for (length, expected) in lengths.into_iter().zip([1.0, 0.0, 1.0, 0.0]) {
            assert!((length - expected).abs() < 1e-3, "{length}");
        }
    }

    #[test]
    fn each_crate_stays_below_the_limit_of_the_registry() {
        let of_others = |model: &&EmbeddedModel| {
            !matches!(model.kind, ModelKind::Transformer | ModelKind::Lexicon)
        };
        let own = embedded_models().iter().filter(of_others).map(|model| model.n_bytes).sum();
        let embeddings = skillmux_transformer_embeddings::TENSORS.len()
            + skillmux_transformer_embeddings::VOCABULARY.len();
        let layers = skillmux_transformer_layers::TENSORS.len();
        for n_bytes in [own, embeddings, layers, lexicon::N_BYTES] {
            assert!(n_bytes < 10_000_000, "{n_bytes}");
        }
    }

    /// Returns the identities of the rankings that ship: with the transformer, with the other
    /// vectors, and by words alone.
    fn shipped() -> [RankingIdentity; 3] {
        let RankerWeights { with_vectors, without_vectors, with_transformer } = ranker();
        let pool = || PoolRetriever::new(Some(Arc::new(encoder())));
        let linear = LinearReranker::new(with_vectors);
        let read = linear.clone().with_transformer(with_transformer);
        [
            read.identity(&pool().with_transformer(Arc::new(transformer()))),
            linear.identity(&pool()),
            LinearReranker::new(without_vectors).identity(&PoolRetriever::new(None)),
        ]
    }

    #[test]
    fn the_calibrations_are_of_the_rankings_that_ship() {
        let calibrations = abstention();
        for ranking in shipped() {
            assert!(calibrations.of(&ranking).is_some(), "{ranking} is not calibrated");
        }
        assert_eq!(calibrations.iter().count(), 3);
    }

    #[test]
    fn the_calibration_is_finite_and_a_better_match_is_never_less_sure() {
        for Calibration { bias, weights, threshold, .. } in abstention().iter() {
            let weights = weights.to_array();
            assert!(bias.is_finite() && weights.iter().all(|weight| weight.is_finite()));
            assert!((0.0..1.0).contains(threshold));
            let matches = weights.iter().zip(Features::IS_MATCH).filter(|(_, is_match)| *is_match);
            assert!(matches.into_iter().all(|(weight, _)| *weight >= 0.0));
        }
    }

    #[test]
    fn chinese_tasks_are_said_in_english() {
        let translation = translator().translate("数据库的慢查询怎么优化").unwrap().text;
        for word in ["database", "slow", "query"] {
            assert!(translation.contains(word), "{translation}");
        }
        assert_eq!(translator().translate("slow query"), None);
    }
}

//! [`TranslatedEncoder`]: an encoder that reads one language, and what says other texts in it.

use std::{borrow::Cow, ops::Range};

use skillmux::{
    error::Result,
    model::{Encoder, EncoderIdentity, TokenEncoder, TokenVectors, Translator},
};

/// An encoder that reads what a translator says of a text, so that texts of two languages have
/// vectors of one space. A text that the translator says nothing of is read as it is.
pub struct TranslatedEncoder<E, T> {
    encoder: E,
    translator: T,
    identity: EncoderIdentity,
}

impl<E: Encoder, T: Translator> TranslatedEncoder<E, T> {
    /// Returns the encoder. `fingerprint` tells the translator from others: with another one, all
    /// vectors are made anew.
    pub fn new(encoder: E, translator: T, fingerprint: &str) -> Self {
        let inner = encoder.identity();
        let both = blake3::hash(format!("{}\n{fingerprint}", inner.fingerprint).as_bytes());
        let fingerprint = both.to_hex()[..16].to_owned();
        let identity = EncoderIdentity { fingerprint, ..inner.clone() };
        Self { encoder, translator, identity }
    }

    fn read<'t>(&self, texts: &[&'t str]) -> Vec<Cow<'t, str>> {
        let read = |text: &&'t str| {
            self.translator.translate(text).map_or((*text).into(), |said| Cow::from(said.text))
        };
        texts.iter().map(read).collect()
    }
}

impl<E: Encoder, T: Translator> Encoder for TranslatedEncoder<E, T> {
    fn identity(&self) -> &EncoderIdentity {
        &self.identity
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<f32>> {
        let read = self.read(texts);
        self.encoder.encode(&read.iter().map(AsRef::as_ref).collect::<Vec<_>>())
    }

    fn encode_queries(&self, texts: &[&str]) -> Result<Vec<f32>> {
        let read = self.read(texts);
        self.encoder.encode_queries(&read.iter().map(AsRef::as_ref).collect::<Vec<_>>())
    }

    fn read_share(&self, query: &str) -> f32 {
        self.encoder.read_share(&self.read(&[query])[0])
    }
}

impl<E: TokenEncoder, T: Translator> TokenEncoder for TranslatedEncoder<E, T> {
    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<TokenVectors>> {
        let read = self.read(texts);
        self.encoder.encode_tokens(&read.iter().map(AsRef::as_ref).collect::<Vec<_>>())
    }

    fn encode_query_tokens(&self, query: &str) -> Result<TokenVectors> {
        self.encoder.encode_query_tokens(&self.read(&[query])[0])
    }

    fn clauses(&self, tokens: &[u32]) -> Vec<Range<usize>> {
        self.encoder.clauses(tokens)
    }
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use super::*;
    use crate::transformer::TransformerEncoder;

    #[test]
    fn a_chinese_text_has_the_vector_of_its_words_in_english() {
        let (english, both) = (TransformerEncoder::embedded(), crate::transformer());
        let of = |encoder: &dyn Encoder, text: &str| encoder.encode(&[text]).unwrap();
        assert_eq!(of(&both, "merge pdf files"), of(&english, "merge pdf files"));
        let said = crate::translator().translate("数据库的慢查询").unwrap().text;
        assert!(said.contains("database") && said.contains("slow"), "{said}");
        assert_eq!(of(&both, "数据库的慢查询"), of(&english, &said));
        assert!(of(&english, "数据库的慢查询").iter().all(|x| *x == 0.0));
    }

    #[test]
    fn a_chinese_task_is_near_the_english_skill_for_it_and_the_other_way_round() {
        let encoder = crate::transformer();
        let nearest = |task: &str, skills: [&str; 3]| {
            let task = encoder.encode_queries(&[task]).unwrap();
            let skills = encoder.encode(&skills).unwrap();
            let cosine = |skill: &[f32]| skill.iter().zip(&task).map(|(a, b)| a * b).sum::<f32>();
            let cosines: Vec<f32> = skills.chunks(encoder.dim()).map(cosine).collect();
            (0..3).max_by(|a, b| cosines[*a].total_cmp(&cosines[*b])).unwrap()
        };
        let english = [
            "log rotation: Keep log files from filling the disk",
            "expense splitter: Divide shared costs of a group trip and settle debts",
            "pdf merge: Join several PDF files into one document",
        ];
        assert_eq!(nearest("我们四个人去旅行，每个人该付多少钱", english), 1);
        let chinese = [
            "日志轮转：防止日志文件占满磁盘",
            "旅行分摊：计算多人旅行的费用",
            "合并文档：把多个文件合并成一个",
        ];
        assert_eq!(nearest("four of us went on a trip, who owes whom now", chinese), 1);
    }

    #[test]
    fn another_translator_is_another_encoder() {
        let of = |fingerprint: &str| {
            let encoder = TranslatedEncoder::new(
                TransformerEncoder::embedded(),
                crate::translator(),
                fingerprint,
            );
            encoder.identity().clone()
        };
        assert_ne!(of("a"), of("b"));
        assert_ne!(of("a").fingerprint, TransformerEncoder::embedded().identity().fingerprint);
        assert_eq!(of("a"), of("a"));
    }
}

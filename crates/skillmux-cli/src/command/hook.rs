//! `skillmux hook`: what an agent runs on each prompt.
//!
//! It must never stand in the agent's way. Whatever goes wrong, it prints nothing on standard
//! output and ends with 0, and it ends in time: it neither makes an index nor brings one up to
//! date, but lets another process do so.

use std::{
    env, fs,
    io::{self, Read as _, Write as _},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};
use skillmux::{
    compose::{Decision, DropReason},
    index::Index,
    library::{
        Whereabouts,
        agents::{HookAnswer, PromptHook, profiles, project_of},
    },
    query::Query,
    route::{Alternative, Route, RouteOptions, Router},
    text::{escaped_json, one_line, without_half_pairs},
    trust::TrustPolicy,
};

use crate::{
    args::{HookArgs, StageArgs},
    assemble::Models,
    kept,
    networks::read_transformer,
    render::hook::{OtherSkill, RoutedSkill, context},
    settings::{OwnModels, Settings},
    source::{self, PresentIndex},
};

/// Largest event that is read.
const MAX_EVENT_BYTES: u64 = 1024 * 1024;

/// Most tokens of skill text: about what the answer has room for. A text that is longer than that
/// would be left out as a whole.
const MAX_BUDGET_TOKENS: u32 = 2_000;

/// Most skills that are named beside those that are loaded.
const N_OTHERS: usize = 3;

/// Least score of a skill that is named because it may serve a part of the prompt, in log-odds:
/// `docs/experiments/plan.md`.
const MIN_SCORE_OF_PART: f32 = 3.0;

/// How long an index is good enough without a look at the skills.
const FRESH: Duration = Duration::from_mins(1);

/// What an agent says about a prompt.
#[derive(Deserialize)]
struct Event {
    prompt: String,
    cwd: Option<PathBuf>,
}

/// Returns whether the command line names this command.
pub(crate) fn is_called() -> bool {
    env::args_os().nth(1).is_some_and(|first| first == "hook")
}

/// Answers an event, or says nothing.
pub(crate) fn run(args: &HookArgs) {
    panic::set_hook(Box::new(|_| {}));
    // Whoever holds it decides how the process ends.
    let end = Arc::new(Mutex::new(()));
    if let Err(error) = end_after(args.deadline(), Arc::clone(&end)) {
        return say(&format!("cannot watch the time: {error}"));
    }
    let answered = panic::catch_unwind(AssertUnwindSafe(|| answer(args)));
    if let Ok(Err(error)) = &answered {
        // Before the end: it may take long.
        kept::remove_damaged(error);
    }
    let _end = end.lock().unwrap_or_else(PoisonError::into_inner);
    match answered {
        Ok(Ok(Some(text))) => {
            let mut out = io::stdout().lock();
            // An agent that does not listen any more has what it wants.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
        Ok(Ok(None)) => {}
        Ok(Err(error)) => say(&format!("{error:#}")),
        Err(_) => say("something went wrong inside"),
    }
}

/// Ends the process in time, unless an answer is being printed.
#[expect(clippy::exit, reason = "the thread that is late cannot be stopped otherwise")]
fn end_after(deadline: Duration, end: Arc<Mutex<()>>) -> io::Result<()> {
    let watch = move || {
        thread::sleep(deadline);
        let _end = end.lock();
        process::exit(0);
    };
    thread::Builder::new().spawn(watch).map(drop)
}

/// Says a line on standard error, which agents show at most in their logs.
fn say(message: &str) {
    // Unlike `eprintln!`, this does not panic where nobody reads.
    let _ = writeln!(io::stderr(), "skillmux hook: {}", one_line(message));
}

/// Returns what the agent is to read; `None` if there is nothing to say.
fn answer(args: &HookArgs) -> anyhow::Result<Option<String>> {
    let Some(agent) = profiles().iter().find(|agent| agent.id == args.agent) else {
        return Ok(None);
    };
    let Some(event) = read_event()? else { return Ok(None) };
    let mut settings = Settings::from_environment()?;
    // Without links, as the other process is told its folder by the system: both must mean the same
    // index.
    let cwd = event.cwd.filter(|cwd| cwd.is_absolute() && cwd.is_dir());
    if let Some(cwd) = cwd {
        let cwd = if cfg!(unix) { fs::canonicalize(&cwd).unwrap_or(cwd) } else { cwd };
        settings.project = Some(project_of(&cwd, settings.home.as_deref()).to_owned());
    }
    let PresentIndex { index, places, kept_at } = source::open_present(&settings)?;
    // Before the answer, which may come too late each time: the index must be brought up to date all
    // the same.
    if let Some(kept_at) = kept_at {
        refresh(&kept_at, &settings);
    }
    let Some(index) = index else { return Ok(None) };
    let trust = settings.trust_policy(&places, Some(&index))?;
    let router = router(index, &settings, trust)?.with_places(places);
    let Some(context) = found(&router, &event.prompt, args.budget)? else { return Ok(None) };
    let output = output(agent.hook.as_ref(), &context);
    Ok(Some(escaped_json(&output.to_string()) + "\n"))
}

/// Returns the context as an agent takes it; one without a hook as Claude Code does, so that a user
/// can try it.
fn output(hook: Option<&PromptHook>, context: &str) -> Value {
    match hook.map(|hook| hook.answer) {
        Some(HookAnswer::Flat) => json!({ "additionalContext": context }),
        _ => json!({ "hookSpecificOutput": {
            "hookEventName": hook.map_or("UserPromptSubmit", |hook| hook.event.as_str()),
            "additionalContext": context,
        }}),
    }
}

/// Returns whether answers have a confidence, without which nothing is said, as far as that can be
/// told without an index and a connection.
///
/// # Errors
/// Those of the models that the settings name.
pub(crate) fn has_confidence(settings: &Settings) -> anyhow::Result<bool> {
    let models = &settings.models;
    if *models == OwnModels::default() {
        return Ok(true);
    }
    if models.is_elsewhere() {
        return Ok(models.abstention.is_some());
    }
    let index = source::open_present(settings).ok().and_then(|present| present.index);
    let Some(index) = index else { return Ok(true) };
    Ok(router(index, settings, TrustPolicy::default())?.calibration().is_some())
}

fn router(index: Index, settings: &Settings, trust: TrustPolicy) -> anyhow::Result<Router> {
    read_transformer(settings)?;
    Models::load(settings)?.router(index, StageArgs::default(), trust)
}

/// Returns the skills that a prompt asks for, as a model reads them.
fn found(router: &Router, prompt: &str, budget_tokens: u32) -> anyhow::Result<Option<String>> {
    let budget_tokens = budget_tokens.min(MAX_BUDGET_TOKENS);
    let options = RouteOptions { budget_tokens, ..RouteOptions::default() };
    let route = router.route(&Query::new(prompt)?, &options)?;
    let skills = routed(router, &route)?;
    // Without a confidence, nearly any prompt loads a skill.
    if route.decision != Decision::Load || route.confidence.is_none() || skills.is_empty() {
        return Ok(None);
    }
    Ok(Some(context(&skills, &others(router, &route)?)))
}

/// Returns the other skills that are named, with what is told of them.
fn others(router: &Router, route: &Route) -> anyhow::Result<Vec<OtherSkill>> {
    let index = router.index();
    let mut others: Vec<OtherSkill> = Vec::new();
    for Alternative { id, .. } in close(route) {
        let skill = index.skill(index.find(id)?)?.skill;
        let place = match router.whereabouts(id)? {
            Whereabouts::Found(place) if !place.is_for_user_only() => Some(place.shown()),
            Whereabouts::NoFolder => None,
            _ => continue,
        };
        if others.iter().all(|earlier| earlier.skill.id != *id) {
            others.push(OtherSkill { trust: router.trust(id)?, folder: place, skill });
        }
        if others.len() == N_OTHERS {
            break;
        }
    }
    Ok(others)
}

/// Returns the skills that could take the place of a loaded one, the best of each step first, some
/// of them twice; of a prompt of several parts then the best of the others, as one may serve a part.
fn close(route: &Route) -> Vec<&Alternative> {
    let is_substitute =
        |other: &&Alternative| matches!(other.reason, DropReason::Substitute { .. });
    let of_steps = route.steps.iter();
    let substitutes: Vec<Vec<&Alternative>> =
        of_steps.map(|step| step.alternatives.iter().filter(is_substitute).collect()).collect();
    let in_turn =
        (0..N_OTHERS).flat_map(|place| substitutes.iter().filter_map(move |of| of.get(place)));
    let may_serve_a_part = |other: &&Alternative| {
        let is_likely = other.reason == DropReason::BelowCut && other.score >= MIN_SCORE_OF_PART;
        is_likely && route.steps.len() > 1
    };
    let mut below: Vec<&Alternative> =
        route.left_out().into_iter().filter(may_serve_a_part).collect();
    below.sort_by(|a, b| b.score.total_cmp(&a.score));
    in_turn.copied().chain(below).collect()
}

/// Reads what the agent says; `None` if it asks for nothing.
fn read_event() -> anyhow::Result<Option<Event>> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_EVENT_BYTES + 1).read_to_end(&mut bytes)?;
    anyhow::ensure!(bytes.len() as u64 <= MAX_EVENT_BYTES, "the event is larger than 1 MiB");
    let text = String::from_utf8_lossy(&bytes);
    // JavaScript writes half of a surrogate pair where it cuts an emoji.
    let text = without_half_pairs(&text);
    let event: Event = serde_json::from_str(&text)?;
    // A slash begins a command of the agent: its user has said what to do.
    let is_task = |event: &Event| {
        let prompt = event.prompt.trim_start();
        !prompt.is_empty() && !prompt.starts_with('/')
    };
    Ok(Some(event).filter(is_task))
}

/// Returns the skills to load that are still there and that a model may load.
fn routed<'r>(router: &Router, route: &'r Route) -> anyhow::Result<Vec<RoutedSkill<'r>>> {
    let mut routed: Vec<RoutedSkill<'r>> = Vec::new();
    for skill in route.steps.iter().flat_map(|step| &step.skills) {
        if routed.iter().any(|earlier| earlier.skill.id == skill.id) {
            continue;
        }
        // The index may be a minute old, or the user's own.
        match router.whereabouts(&skill.id)? {
            Whereabouts::Found(place) if place.is_for_user_only() => continue,
            Whereabouts::Gone => continue,
            _ => {}
        }
        let page = route.pages.iter().find(|page| page.skill_id == skill.id);
        routed.push(RoutedSkill { skill, page });
    }
    Ok(routed)
}

/// Lets another process bring the index up to date, unless one did so a moment ago. What fails here
/// fails again the next time, and is no reason to say nothing now.
fn refresh(index: &Path, settings: &Settings) {
    let Some(stamp) = kept::hook_stamp(index) else { return };
    let age = fs::metadata(&stamp).ok().and_then(|file| file.modified().ok()?.elapsed().ok());
    if age.is_some_and(|age| age < FRESH) {
        return;
    }
    let made = stamp.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok());
    if made && fs::write(&stamp, "").is_ok() {
        let _ = update_apart(settings.project.as_deref());
    }
}

/// Starts `skillmux index` so that it outlives this process and holds none of its streams.
fn update_apart(project: Option<&Path>) -> io::Result<()> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("index").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(project) = project {
        command.current_dir(project);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn of_several_parts_what_is_likely_and_below_the_cut_comes_after_the_substitutes() {
        let other = |id: &str, score: f32, reason: Value| json!({ "id": id, "name": id, "score": score, "reason": reason });
        let below = |id: &str, score: f32| other(id, score, json!({ "why": "below_cut" }));
        let substitute = other("s", 1.0, json!({ "why": "substitute", "of": "a" }));
        let step = |alternatives: Vec<Value>| json!({ "subtask": "", "confidence": null, "depends_on": [], "skills": [], "alternatives": alternatives });
        let named = |steps: Vec<Value>| {
            let route = json!({
                "decision": "load", "confidence": null, "reason": "", "steps": steps, "pages": [], "trace": [],
            });
            let route: Route = serde_json::from_value(route).unwrap();
            close(&route).iter().map(|other| other.id.to_string()).collect::<Vec<_>>()
        };
        let first = step(vec![below("low", 2.9), below("b", 3.1), substitute]);
        assert_eq!(named(vec![first.clone()]), ["s"]);
        assert_eq!(named(vec![first, step(vec![below("c", 4.0)])]), ["s", "c", "b"]);
    }
}

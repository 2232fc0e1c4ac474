//! `skillmux eval build`

use skillmux_eval::{
    cluster::{ClusterThresholds, Clusters},
    dataset::build::comp_skill_bench,
};

use crate::{
    args::EvalBuildCommand,
    folder::make_folder,
    outcome::Outcome,
    render::{paint::grouped, progress::progress},
    settings::Settings,
    source,
};

pub(super) fn run(command: &EvalBuildCommand, settings: &Settings) -> anyhow::Result<Outcome> {
    match command {
        EvalBuildCommand::Compskillbench { readme, out, seed } => {
            let bench = comp_skill_bench(readme, *seed)?;
            make_folder(out)?;
            bench.write(out)?;
            anstream::eprintln!("{} tasks in `{}`", grouped(bench.tasks.len()), out.display());
        }
        EvalBuildCommand::Clusters { source, out } => {
            let opened = source::open(source, settings)?;
            let n_skills = opened.index.n_skills();
            let bar = progress(n_skills, "skills read");
            let on_read = |n_read: usize| bar.set_position(n_read as u64);
            let clusters = Clusters::build(&opened.index, ClusterThresholds::default(), &on_read)?;
            bar.finish_and_clear();
            clusters.write(out)?;
            let (n_clusters, n_members) =
                clusters.iter().fold((0, 0), |(n, m), members| (n + 1_usize, m + members.len()));
            anstream::eprintln!(
                "{} of {} skills are near-duplicates, in {} clusters: `{}`",
                grouped(n_members),
                grouped(clusters.n_skills()),
                grouped(n_clusters),
                out.display()
            );
        }
    }
    Ok(Outcome::Found)
}

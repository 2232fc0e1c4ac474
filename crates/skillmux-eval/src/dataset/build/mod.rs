//! Builds datasets that are not handed out ready-made.

mod comp_skill_bench;
mod draw;

pub use comp_skill_bench::{
    CategoryCount, CompSkillBench, CompStep, CompTask, Difficulty, comp_skill_bench,
};

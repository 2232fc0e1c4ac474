//! The style sheet of the page.

use std::fmt::Write;

use super::plot::{SERIES, TONES};

/// Returns the style sheet. Plots name light colours; the sheet puts its own in their place.
pub(super) fn style() -> String {
    let hex = |color: plotters::style::RGBColor| {
        format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2)
    };
    let tones = TONES.iter().map(|(name, light, dark)| ((*name).to_owned(), hex(*light), *dark));
    let series = (0..).zip(SERIES).map(|(at, (light, dark))| (format!("s{at}"), hex(light), dark));
    let colors: Vec<(String, String, &str)> = tones.chain(series).collect();
    let (mut light, mut dark, mut rules) = (String::new(), String::new(), String::new());
    for (name, in_light, in_dark) in &colors {
        let _ = write!(light, "--{name}:{in_light};");
        let _ = write!(dark, "--{name}:{in_dark};");
        let _ = writeln!(
            rules,
            ".plot [fill=\"{in_light}\"]{{fill:var(--{name})}}\
             .plot [stroke=\"{in_light}\"]{{stroke:var(--{name})}}"
        );
        if name.starts_with('s') {
            let _ = writeln!(rules, ".key.{name}{{background:var(--{name})}}");
        }
    }
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{rules}{SHEET}"
    )
}

const SHEET: &str = "\
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);\
font:15px/1.55 system-ui,-apple-system,\"Segoe UI\",\"Noto Sans\",\"Noto Sans CJK SC\",sans-serif}
main{max-width:1140px;margin:0 auto;padding:40px 32px 80px}
header{border-bottom:1px solid var(--grid);margin-bottom:32px;padding-bottom:20px}
.over{margin:0;color:var(--muted);font-size:13px;letter-spacing:.04em}
h1{margin:2px 0 4px;font-size:30px;line-height:1.2;font-weight:650;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{margin:48px 0 4px;font-size:21px;font-weight:650}
h3{margin:0;font-size:16px;font-weight:650}
.lead{margin:0;font-size:16px}
.notes{margin-top:14px;color:var(--muted);font-size:13px;max-width:78ch}
.notes p{margin:2px 0}
.view{margin:0 0 14px;color:var(--muted)}
.wide{overflow-x:auto;margin:8px 0 20px}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--muted);font-size:13px;padding-bottom:6px}
th,td{text-align:left;padding:6px 14px 6px 0;border-bottom:1px solid var(--grid);vertical-align:top}
thead th{border-bottom:1px solid var(--muted);font-weight:600;white-space:nowrap;vertical-align:bottom}
tbody th{font-weight:500;overflow-wrap:anywhere;min-width:9em;max-width:26em}
th:last-child,td:last-child{padding-right:0}
.n{text-align:right}
.scores{width:100%}
.scores td+td{padding-left:2px}
.scores small{display:block;color:var(--muted);font-size:12px;white-space:nowrap}
.scores tbody th small{display:inline}
.best .mean{font-weight:700}
.good{color:var(--good)}
.bad{color:var(--bad)}
.mean .good,.mean .bad{font-size:10px;margin-left:3px;vertical-align:1px}
.key{display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:8px}
figure{margin:32px 0 12px}
figcaption p{margin:2px 0 12px;color:var(--muted);font-size:14px;max-width:78ch}
.plot{display:block;width:100%;height:auto}
.plot text{font-family:inherit;font-variant-numeric:tabular-nums}
details{margin:6px 0;border-bottom:1px solid var(--grid)}
summary{cursor:pointer;padding:6px 0;font-size:14px;font-weight:500}
:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
@media (max-width:640px){main{padding:24px 16px 60px}figure{overflow-x:auto}.plot{min-width:640px}}
@media print{main{max-width:none;padding:0}details{break-inside:avoid}}
";

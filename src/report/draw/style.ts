// The style sheet of the page. Figures take their colours from these variables, one set for light mode and one for dark mode.
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1d2433; --muted: #5b6577; --grid: #e6e9ef; --line: #d5dae3; --tint: #f5f7fa;
  --blue: #1f6fb2; --sky: #58a6d8; --orange: #d2691e; --green: #1a8f5f; --purple: #8d4fa8; --grey: #7a8494; --red: #c0392b;
  --ramp2: #a3cbec; --ramp3: #8cbbe2; --ramp4: #74abd9; --ramp5: #5392c8; --ramp6: #3879b3; --ramp7: #235f98; --ramp8: #12457a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161d; --ink: #e4e8ef; --muted: #98a2b3; --grid: #262d38; --line: #343d4b; --tint: #1a202a;
    --blue: #5aa9e6; --sky: #9fd3f5; --orange: #f0924c; --green: #4cc38a; --purple: #c58be0; --grey: #9aa5b5; --red: #ff7b6b;
    --ramp2: #37587a; --ramp3: #3f6a93; --ramp4: #477cab; --ramp5: #518dc3; --ramp6: #6aa7da; --ramp7: #8fc1ea; --ramp8: #bcdcf6;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main, header, footer { max-width: 900px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 40px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.4rem; margin: 3.2rem 0 .6rem; padding-top: 1.2rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.02rem; margin: 0 0 .5rem; }
p { margin: .5rem 0; }
a { color: var(--blue); }
code { font: .86em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.lead { color: var(--muted); font-size: 1.05rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: 1rem 0; list-style: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 1rem 0; font-size: .9rem; }
dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1.8rem 0 2.6rem; }
figure > svg { display: block; width: 100%; height: auto; }
figcaption { color: var(--muted); font-size: .875rem; line-height: 1.5; margin-top: .5rem; max-width: 46rem; }
.keys { display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: .2rem 0 .6rem; font-size: .85rem; }
.key { display: inline-flex; align-items: center; gap: .4rem; white-space: nowrap; }
.key svg { width: 26px; height: 12px; flex: none; }
details { margin-top: .5rem; font-size: .85rem; }
summary { cursor: pointer; color: var(--blue); }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .8rem; margin: .5rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .6rem; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
thead th { color: var(--muted); font-weight: 600; }
tbody th { font-weight: 500; }
td.number { text-align: right; }
.bits th, .bits td { padding: .22rem .45rem; } .bits tbody th { white-space: normal; min-width: 9rem; max-width: 13rem; }
.bits td.good { color: var(--green); } .bits td.bad { color: var(--paper); background: var(--red); }
.verdict { font-weight: 600; padding: .6rem .9rem; border-radius: 6px; background: var(--tint); border-left: 4px solid currentColor; }
.verdict.good { color: var(--green); } .verdict.bad { color: var(--red); }
.missing { color: var(--muted); white-space: normal; }
.source { color: var(--muted); font-size: .85rem; }
footer { margin-top: 4rem; padding-bottom: 3rem; color: var(--muted); font-size: .85rem; }
@media print { details { display: none; } }
`;

/**
 * The style sheet of the HTML report.
 *
 * @module
 */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1d2327; --soft: #56606a; --paper: #fff; --back: #f3f4f2; --line: #c9cfd3;
  --good: #0b5d4e; --bad: #a3231a; --care: #7a4b00; --note: #1a4f8b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebec; --soft: #a9b3b9; --paper: #1b2023; --back: #121517;
  --line: #454e54; --good: #63cdb3; --bad: #ff9d92; --care: #f0c060; --note: #8fbcf0; } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
header, main { max-width: 70rem; margin: auto; padding: 1.5rem }
section { background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.5rem;
  margin: 0 0 1.5rem; overflow-x: auto }
h1 { margin: 0; overflow-wrap: anywhere } h2 { margin: 0 0 .5rem } h3, h4 { margin: 1rem 0 .25rem; font-size: 1rem } h4 { margin-top: .25rem }
.kind { font-size: 1.2rem; margin-top: 1.5rem } .needs td { overflow-wrap: anywhere } .needs td:nth-child(2) { min-width: 8rem }
article p { margin: .25rem 0 }
a { color: var(--note) }
.verdict { font-weight: 700; margin: 0 } .good { color: var(--good) } .bad { color: var(--bad) }
.counts { display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; list-style: none }
.counts li { background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem 1rem }
.counts strong { font-size: 1.3rem } small { display: block; color: var(--soft); overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .2rem .5rem; border-bottom: 1px solid var(--line) }
.n { text-align: right; font-variant-numeric: tabular-nums } meter { width: 8rem }
details { margin: .5rem 0 } summary { cursor: pointer; font-weight: 600 }
.rows { list-style: none; padding: 0 } .rows li { padding: .15rem 0 .15rem .6rem; border-left: .25rem solid var(--line) }
.rows b { display: inline-block; min-width: 6rem }
.rows .held, .rows .pass { border-color: var(--good) } .rows .broken, .rows .fail, .rows .setup, .rows .error { border-color: var(--bad) }
article { border-left: .3rem solid var(--bad); padding: .1rem 0 .1rem 1rem; margin: 1rem 0 }
article.warn { border-color: var(--care) } article.observe { border-color: var(--note) }
.word { color: var(--bad) } .warn .word { color: var(--care) } .observe .word { color: var(--note) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: .5rem 0 } dt { color: var(--soft) }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere } dd ul { margin: 0; padding-left: 1.2rem }
@media (max-width: 40rem) { dl { display: block } dd { margin: 0 0 .5rem } header, main { padding: .75rem } section { padding: .75rem }
  article { padding-left: .6rem } pre.in { margin-left: .5rem } }
.filters { display: flex; flex-wrap: wrap; gap: 1rem; margin: 0 0 1.5rem } fieldset { border: 1px solid var(--line);
  border-radius: .5rem; padding: .25rem .75rem } label { display: inline-block; margin-right: .75rem } .more { margin-left: 1.3rem }
.reason { font-weight: 600; overflow-wrap: anywhere } code, pre { font: .85rem/1.45 ui-monospace, monospace }
pre { background: var(--back); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; margin: .3rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere } pre.in { margin-left: 2rem }
:focus-visible { outline: 3px solid var(--note); outline-offset: 2px }
`;

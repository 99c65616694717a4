/**
 * The style of the administration page, after the style sheet of all pages.
 *
 * @module
 */

/** Rules for the frame, lists, facts and dialogs. */
export const STYLE: string = `
body{display:grid;grid-template-columns:15rem minmax(0,1fr);align-items:start;justify-items:stretch;gap:0;padding:0}
.side{position:sticky;top:0;display:flex;flex-direction:column;height:100vh;height:100dvh;overflow:auto;padding:1.5rem 1rem;background:var(--paper);border-right:1px solid var(--line)}
.side header{margin-bottom:1.25rem;padding:0 .5rem}
.side nav{display:grid;gap:.125rem}
.side nav a{padding:.4375rem .75rem;color:var(--ink);text-decoration:none;border-radius:.5rem}
.side nav a:hover{background:var(--back)}
.side nav a[aria-current]{color:var(--on-accent);background:var(--accent);font-weight:600}
.side footer{margin-top:auto;padding:1rem .5rem 0;text-align:left}
main{padding:2rem;max-width:76rem;outline:0}
.head{display:flex;flex-wrap:wrap;align-items:center;gap:.75rem;margin-bottom:1rem}
.head h1{flex:1 1 12rem;margin:0}
.find{display:flex;gap:.5rem;flex:0 1 24rem;margin:0}
.find input:not([type=checkbox],[type=radio]){min-height:2.25rem;margin:0;padding:.25rem .75rem}
.scroll{overflow-x:auto;background:var(--paper);border:1px solid var(--line);border-radius:.75rem}
.list{width:100%;margin:0;border-collapse:collapse;font-size:.9375rem}
.list th{padding:.625rem .875rem;text-align:left;font-weight:600;color:var(--soft);white-space:nowrap}
.list td{padding:.5rem .875rem;border-top:1px solid var(--line);vertical-align:top;max-width:22rem;overflow-wrap:anywhere}
.list tr.open{cursor:pointer}
.list tr.open:hover td{background:var(--back)}
.list .act{white-space:nowrap;text-align:right}
.more{margin:1rem 0}
.facts-of{display:grid;grid-template-columns:minmax(9rem,14rem) minmax(0,1fr);margin:0 0 1.5rem;background:var(--paper);border:1px solid var(--line);border-radius:.75rem}
.facts-of dt,.facts-of dd{margin:0;padding:.5rem .875rem;overflow-wrap:anywhere}
.facts-of dt{font-weight:400;color:var(--soft)}
.facts-of dd{color:var(--ink)}
.facts-of>:nth-child(n+3){border-top:1px solid var(--line)}
.acts{display:flex;flex-wrap:wrap;gap:.5rem;margin:0 0 1.5rem}
dialog{width:min(36rem,calc(100vw - 2rem));max-height:calc(100dvh - 4rem);padding:1.75rem;color:var(--ink);background:var(--paper);border:1px solid var(--line);border-radius:1rem;box-shadow:0 8px 40px rgb(0 0 0/.25)}
dialog::backdrop{background:rgb(0 0 0/.45)}
dialog .hint{margin:-.75rem 0 1.125rem;font-size:.875rem;color:var(--soft)}
dialog fieldset{margin:0 0 1.125rem;padding:0;border:0}
dialog textarea{min-height:5rem;resize:vertical}
dialog .row>*{flex:0 0 auto}
.secret{display:block;margin:0 0 1rem;padding:.75rem;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere;background:var(--back);border:1px solid var(--line);border-radius:.5rem;user-select:all}
.status{position:fixed;right:1rem;bottom:1rem;z-index:2;max-width:24rem;padding:.75rem 1rem;color:var(--on-accent);background:var(--accent);border-radius:.5rem}
.status:empty{display:none}
@media (max-width:48rem){body{display:block}.side{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line)}.side nav{display:flex;flex-wrap:wrap}main{padding:1.25rem}.facts-of{display:block}.facts-of dd{padding-top:0}.facts-of>:nth-child(n+3){border-top:0}.facts-of dt:nth-child(n+3){border-top:1px solid var(--line)}}
@media (max-width:30rem){body{padding:0}.side nav a{padding:.5rem .625rem}}
`;

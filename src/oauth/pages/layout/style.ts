/**
 * The style sheet of the pages. Colours are custom properties, so that all of them follow the mode of the browser.
 *
 * @module
 */
import type { PageSettings, Palette } from "../settings.ts";

/** The style sheet for these colours, safe inside a `style` element. */
export function writeStyle({ light, dark }: PageSettings): string {
  const text = `:root{color-scheme:light dark;${
    writePalette(light, "#d9dee1", "#838d94", "#a3231a", "#fdf3f2")
  }}
@media (prefers-color-scheme:dark){:root{${
    writePalette(dark, "#333a3f", "#7d878e", "#ff9d92", "#2b1b1a")
  }}}${RULES}`;
  return text.replace(/\s+/g, " ");
}

function writePalette(
  { accent, onAccent, background, surface, text, soft }: Palette,
  line: string,
  edge: string,
  bad: string,
  onBad: string,
): string {
  return `--accent:${accent};--on-accent:${onAccent};--back:${background};--paper:${surface};--ink:${text};` +
    `--soft:${soft};--line:${line};--edge:${edge};--bad:${bad};--bad-back:${onBad}`;
}

const RULES = `
*,::before,::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.25rem;padding:2rem 1rem;background:var(--back);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
.card{width:100%;max-width:26.5rem;padding:2.25rem 2.25rem 2.5rem;background:var(--paper);border:1px solid var(--line);border-radius:1rem;box-shadow:0 1px 2px rgb(0 0 0/.04),0 8px 28px rgb(0 0 0/.05)}
.card.wide{max-width:44rem}
header{display:flex;align-items:center;gap:.625rem;margin:0 0 1.75rem;font-weight:600;overflow-wrap:anywhere}
header img{display:block;height:2.5rem;max-width:12rem;object-fit:contain}
.mark{flex:none;width:2rem;height:2rem}
.mark rect{fill:var(--accent)}
.mark path{fill:none;stroke:var(--on-accent);stroke-width:2.4;stroke-linecap:round}
.mark text{fill:var(--on-accent);font:600 18px system-ui,sans-serif}
footer{color:var(--soft);font-size:.875rem;overflow-wrap:anywhere;text-align:center}
h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25;font-weight:650;letter-spacing:-.012em;overflow-wrap:anywhere;text-wrap:balance}
h2{margin:1.75rem 0 .5rem;font-size:1.0625rem;line-height:1.35}
p,ul,dl,form,pre,table{margin:0 0 1rem}
main>:last-child,main>:nth-last-child(2):has(+[hidden]),form>:last-child,.note>:last-child{margin-bottom:0}
h1+form{margin-top:1.25rem}
.lead{margin-bottom:1.5rem;color:var(--soft)}
.lead strong{color:var(--ink)}
strong,code,dd,li,p{overflow-wrap:anywhere}
strong{font-weight:600}
code,pre,.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875em}
pre{padding:.75rem;overflow-x:auto;background:var(--back);border:1px solid var(--line);border-radius:.5rem}
a{color:var(--accent);text-underline-offset:.15em}
label{display:block;margin:0 0 .375rem;font-size:.9375rem;font-weight:550}
input:not([type=checkbox],[type=radio]),select,textarea{display:block;width:100%;min-height:2.75rem;margin:0 0 1.125rem;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--edge);border-radius:.5rem}
input.code{font-size:1.375rem;letter-spacing:.12em;text-align:center;text-transform:uppercase}
input[aria-invalid=true]{border-color:var(--bad)}
button,a.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:.5rem 1.125rem;font:inherit;font-weight:600;line-height:1.25;text-align:center;text-decoration:none;color:var(--on-accent);background:var(--accent);border:1px solid var(--accent);border-radius:.5rem;cursor:pointer}
button:hover,a.button:hover{filter:brightness(1.08)}
button.plain,a.button.plain{color:var(--ink);background:none;border-color:var(--edge)}
button.plain:hover,a.button.plain:hover{background:var(--back);filter:none}
button.danger{color:var(--bad);background:none;border-color:var(--bad)}
button.small,a.button.small{min-height:2.25rem;padding:.25rem .75rem;font-size:.9375rem}
button.link{min-height:1.5rem;padding:0;color:var(--accent);background:none;border:0;font-weight:400;text-decoration:underline;text-underline-offset:.15em}
.full{width:100%}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
input:focus-visible,select:focus-visible,textarea:focus-visible{outline-width:2px;outline-offset:0;border-color:var(--accent)}
.row{display:flex;flex-wrap:wrap;gap:.75rem}
.row>*{flex:1 1 8rem;margin:0}
.stack{display:grid;gap:.75rem;margin:0 0 1rem}
.or{display:flex;align-items:center;gap:.75rem;margin:1.25rem 0;color:var(--soft);font-size:.9375rem}
.or::before,.or::after{content:"";flex:1;border-top:1px solid var(--line)}
.note{margin:0 0 1rem;padding:.75rem .875rem;font-size:.9375rem;background:var(--back);border:1px solid var(--line);border-radius:.5rem}
.problem{margin:0 0 1.125rem;padding:.75rem .875rem;color:var(--bad);background:var(--bad-back);border:1px solid var(--bad);border-radius:.5rem;font-weight:550}
.soft{color:var(--soft)}
.small{font-size:.9375rem}
.bad{color:var(--bad);font-weight:600}
.aside{margin:1.25rem 0 0;font-size:.9375rem;color:var(--soft)}
.who{display:flex;align-items:center;gap:.75rem;margin:1rem 0;padding:.625rem .875rem;border:1px solid var(--line);border-radius:.5rem}
.who p{flex:1;margin:0;min-width:0;line-height:1.35}
.who .soft{display:block;font-size:.875rem}
.who button{flex:none}
[hidden]{display:none!important}
.avatar{flex:none;display:grid;place-items:center;width:2.25rem;height:2.25rem;border-radius:50%;font-weight:600;color:var(--on-accent);background:var(--accent)}
.ask{margin-bottom:.25rem}
.access{margin-bottom:.75rem;padding:0;list-style:none}
.access li{position:relative;padding:.25rem 0 .25rem 1.75rem}
.access li::before{content:"";position:absolute;left:.375rem;top:.625rem;width:.375rem;height:.6875rem;border:solid var(--accent);border-width:0 2px 2px 0;transform:rotate(45deg)}
.access.soft li::before{border-color:var(--soft)}
.big{display:block;margin:.25rem 0 1rem;padding:.625rem;font:600 1.5rem/1.2 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.12em;text-align:center;background:var(--back);border:1px solid var(--line);border-radius:.5rem}
.items{padding:0;list-style:none;border-top:1px solid var(--line)}
.items li{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1rem;padding:.875rem 0;border-bottom:1px solid var(--line)}
.items li>:first-child{flex:1 1 14rem;min-width:0}
.items form,.items p{margin:0}
.items h2{margin:0}
.items p+form{margin-top:.625rem}
.items .access{margin:.25rem 0 .5rem}
.items .access li{display:block;padding:.125rem 0 .125rem 1.5rem;border:0}
.items .access li::before{left:.25rem;top:.4375rem}
h1+.note,h1+.problem{margin-top:.875rem}
.who>a.button{margin-left:auto;flex:none}
.badge{display:inline-block;padding:0 .5rem;font-size:.8125rem;font-weight:550;color:var(--on-accent);background:var(--accent);border-radius:1rem}
.back{margin:0 0 .5rem;font-size:.9375rem}
.back a::before{content:"\\2039\\00a0"}
.facts{margin:0 0 1.25rem;padding-top:.75rem;border-top:1px solid var(--line);font-size:.9375rem;color:var(--soft)}
.facts p{margin:0 0 .375rem}
.facts strong{color:var(--ink)}
.endpoints{width:100%;border-collapse:collapse;font-size:.9375rem}
.endpoints td,.endpoints th{padding:.5rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;font-weight:400}
.endpoints th{width:50%;padding-right:1rem;overflow-wrap:anywhere}
.endpoints td{color:var(--soft)}
dt{font-weight:600}dd{margin:0 0 .75rem;color:var(--soft)}
.developer{margin:1.5rem 0 0;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.875rem}
.hidden{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (max-width:30rem){body{justify-content:flex-start;padding:0 0 1.5rem;background:var(--paper)}.card{padding:1.75rem 1.25rem 1rem;border:0;border-radius:0;box-shadow:none}.card .row>*{flex-basis:100%}}
@media (forced-colors:active){.mark rect{fill:Canvas;stroke:CanvasText}.mark path{stroke:CanvasText}.mark text{fill:CanvasText}}`;

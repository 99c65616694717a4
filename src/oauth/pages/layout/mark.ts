/**
 * The mark beside the product's name when the operator gave no logo, and the icon of the browser tab.
 *
 * @module
 */
import { html, type Markup } from "../../../http/page.ts";
import type { PageSettings } from "../settings.ts";

/** Three legs under a ring: the mark of a server whose operator gave no name. */
const TRIVET = "M16 7a9 9 0 1 0 .01 0ZM16 16v10M16 16l-8.7-5M16 16l8.7-5";

/** The initial of the name in a square, else the mark of Trivet. Decoration: hidden from screen readers. */
export function drawMark(name: string | undefined): Markup {
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true">${drawShape(name)}</svg>`;
}

function drawShape(name: string | undefined): Markup {
  const initial = name?.match(/[\p{L}\p{N}]/u)?.[0].toUpperCase();
  return html`
    <rect width="32" height="32" rx="8" />${initial === undefined
      ? html`
        <path d="${TRIVET}" />
      `
      : html`<text x="16" y="22" text-anchor="middle">${initial}</text>`}
  `;
}

/** The icon as a `data:` URL: the logo if it is one, else the mark in the accent colour. */
export function toIcon({ logo, name, light }: PageSettings, product: string): string {
  if (logo?.startsWith("data:")) return logo;
  const style = `rect{fill:${light.accent}}path{fill:none;stroke:${light.onAccent};stroke-width:2.4;` +
    `stroke-linecap:round}text{fill:${light.onAccent};font:600 18px system-ui,sans-serif}`;
  const svg = html`
    <svg xmlns="http://www.w3.org/2000/svg"
      viewBox="0 0 32 32"><title>${product}</title><style>${style}</style>${drawShape(name)}</svg>
  `;
  return "data:image/svg+xml," + encodeURIComponent(svg.text.replace(/\s+/g, " ").trim());
}

/**
 * The page at `/`: the services that run, with links.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import type { HomeView } from "./basic_views.ts";
import type { PageContent, Writing } from "./room.ts";
import { fill } from "./text.ts";
import type { BasicTexts } from "./texts_en.ts";

export function writeHome(
  { issuer, base, oauth, skills, mcp, account }: HomeView,
  { texts, product }: Writing<BasicTexts>,
): PageContent {
  const link = (path: string): Markup => html`<a href="${base + path}">${path}</a>`;
  return {
    title: texts.startPage,
    isWide: true,
    body: html`
      <h1>${product}</h1>
      <p class="lead">${fill(texts.homeText, { issuer: html`<strong>${issuer}</strong>` })}</p>
      ${account !== undefined && html`<p><a class="button" href="${account}">${texts.yourAccount}</a></p>`}
      ${oauth && html`
        <h2>${texts.homeOAuth}</h2>
        <p>${texts.homeOAuthText}: ${link("/.well-known/oauth-authorization-server")},
        <code>/oauth/authorize</code>, <code>/oauth/token</code>, <code>/api/user</code>, ${link("/login")},
        ${link("/logout")}, ${link("/.well-known/jwks.json")}.</p>
      `}
      ${skills && html`
        <h2>${texts.homeSkills}</h2>
        <p><code>/v1/skills</code>: ${fill(texts.homeSkillsText, {
          header: html`<code>x-api-key</code>`,
        })}.</p>
      `}
      ${mcp && html`
        <h2>${texts.homeMcp}</h2>
        <p><code>POST ${base}/mcp</code>: ${fill(texts.homeMcpText, {
          command: html`<code>trivet stdio</code>`,
        })}.</p>
      `}
    `,
  };
}

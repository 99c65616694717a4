/**
 * The page at `/`: the services that run, with links.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import type { HomeView } from "./basic_views.ts";
import type { PageContent, Writing } from "./page_module.ts";
import { fill } from "./text.ts";
import type { BasicTexts } from "./texts_en.ts";

export function writeHome(
  { issuer, base, oauth, skills, mcp, account }: HomeView,
  { texts }: Writing<BasicTexts>,
): PageContent {
  const link = (path: string): Markup => html`<a href="${base + path}">${path}</a>`;
  const code = (text: string): Markup => html`<code>${text}</code>`;
  return {
    title: texts.startPage,
    isWide: true,
    body: html`
      <h1>${texts.homeTitle}</h1>
      <p class="lead">${fill(texts.homeText, { issuer: html`<strong>${issuer}</strong>` })}</p>
      ${account !== undefined && html`<p><a class="button" href="${account}">${texts.yourAccount}</a></p>`}
      ${oauth && endpoints(texts.homeOAuth, [
        [link("/login"), texts.signIn],
        [link("/logout"), texts.signOut],
        [code("/oauth/authorize"), texts.homeAuthorize],
        [code("/oauth/token"), texts.homeToken],
        [code("/api/user"), texts.homeUser],
        [link("/.well-known/oauth-authorization-server"), texts.homeMetadata],
        [link("/.well-known/jwks.json"), texts.homeKeys],
      ])}
      ${skills && endpoints(texts.homeSkills, [
        [code("/v1/skills"), fill(texts.homeSkillsText, { header: code("x-api-key") })],
      ])}
      ${mcp && endpoints(texts.homeMcp, [
        [code(`POST ${base}/mcp`), fill(texts.homeMcpText, { command: code("trivet stdio") })],
      ])}
    `,
  };
}

function endpoints(title: string, rows: readonly (readonly [Markup, Markup | string])[]): Markup {
  return html`
    <h2>${title}</h2>
    <table class="endpoints">
      ${rows.map(([path, text]) =>
        html`
          <tr>
            <th scope="row">${path}</th>
            <td>${text}</td>
          </tr>
        `
      )}
    </table>
  `;
}

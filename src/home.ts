/**
 * `GET /`: a page that lists the running services, with links.
 *
 * @module
 */
import { html, type Markup, respondPage } from "./http/page.ts";

export interface Running {
  readonly issuer: string;
  readonly oauth: boolean;
  readonly skills: boolean;
  readonly mcp: boolean;
}

/** The page for the services that run. */
export function homePage({ issuer, oauth, skills, mcp }: Running): Response {
  const base = issuer.replace(/\/$/, "");
  const link = (path: string): Markup => html`<a href="${base + path}">${path}</a>`;
  return respondPage({
    title: "Trivet",
    formAction: "'none'",
    body: html`
      <h1 class="wide">Trivet</h1>
      <p>Permission, know-how and tools for AI agents, at <code>${issuer}</code>.</p>
      ${oauth && html`
        <h2>Permission</h2>
        <p>OAuth 2.0 authorization server: ${link("/.well-known/oauth-authorization-server")},
        <code>/oauth/authorize</code>, <code>/oauth/token</code>, <code>/api/user</code>, ${link("/login")},
        ${link("/logout")}, ${link("/.well-known/jwks.json")}.</p>
      `}
      ${skills && html`
        <h2>Know-how</h2>
        <p>Skills service: <code>/v1/skills</code> lists, creates, shows and deletes skills, with an API key
        (<code>x-api-key</code>) or an access token.</p>
      `}
      ${mcp && html`
        <h2>Tools</h2>
        <p>MCP server (JSON-RPC 2.0): <code>POST ${base}/mcp</code>, or <code>trivet stdio</code>.</p>
      `}
    `,
  });
}

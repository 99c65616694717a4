/**
 * The pages that belong to no service: `GET /`, which lists the running services with links, and 404.
 *
 * @module
 */
import { showPage } from "./oauth/pages/page.ts";
import type { PageServer } from "./oauth/pages/page_server.ts";

export interface Running {
  readonly oauth: boolean;
  readonly skills: boolean;
  readonly mcp: boolean;
  /** Whether users have account pages. */
  readonly account: boolean;
}

/** The page for the services that run. */
export async function showHome(
  server: PageServer,
  request: Request,
  { account, ...running }: Running,
): Promise<Response> {
  const { issuer, origin, base } = server;
  const link = account && { account: `${base}/account` };
  const view = { name: "home", issuer, base: origin + base, ...running, ...link } as const;
  return await showPage(server, request, view, { formAction: "'none'" });
}

/** 404 for a browser. @param hasHome whether there is a start page to link to */
export async function showNotFound(
  server: PageServer,
  request: Request,
  hasHome: boolean,
): Promise<Response> {
  const link = server.origin + server.base + "/";
  const view = { name: "error", code: "not_found", status: 404, ...(hasHome && { link }) } as const;
  return await showPage(server, request, view, { status: 404, formAction: "'none'" });
}

/**
 * Checks a running server from outside, at its issuer: its metadata, https, its clock, and the paths that clients look up.
 *
 * @module
 */
import { isLoopbackHost } from "../../../http/network/loopback.ts";
import { judgeClock } from "./check_store.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

const TIMEOUT_MS = 8000;

/** A request that waits for 8 seconds, and follows no redirect. */
export function ask(url: string | URL, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS), ...init });
}

/** The URL of a well-known document: the path of the issuer comes after its name (RFC 8414 section 3, RFC 9728 section 3.1). */
function wellKnown({ origin, pathname }: URL, name: string, more = ""): string {
  return `${origin}/.well-known/${name}${(pathname + more).replace(/\/+/g, "/").replace(/\/$/, "")}`;
}

/** Whether the metadata is where clients look for it, and names this address as its issuer. */
export async function checkIssuer(url: URL): Promise<readonly Finding[]> {
  const place = wellKnown(url, "oauth-authorization-server");
  const response = await ask(place).catch(() => undefined);
  if (!response) {
    return [fail("issuer", `${url.href} does not answer`, "start the server, or correct the URL")];
  }
  const metadata = await response.json().catch(() => undefined) as { issuer?: unknown } | undefined;
  if (!response.ok || !metadata) {
    const advice = `let the proxy pass ${
      new URL(place).pathname
    } to the server, and name the issuer as --url`;
    return [fail("issuer", `${place} is status ${response.status}, without metadata`, advice)];
  }
  const issuer = String(metadata.issuer);
  if (issuer.replace(/\/$/, "") === url.href.replace(/\/$/, "")) {
    return [ok("issuer", `the server at ${url.href} has this issuer`)];
  }
  return [
    fail(
      "issuer",
      `the server names itself ${issuer}`,
      `start it with --issuer ${url.href.replace(/\/$/, "")}`,
    ),
  ];
}

export async function checkResource(url: URL): Promise<readonly Finding[]> {
  const place = wellKnown(url, "oauth-protected-resource", "/mcp");
  const response = await ask(place);
  await response.body?.cancel();
  // A server may have no tools.
  const mcp = await ask(new URL("mcp", url.href.replace(/\/?$/, "/")), { method: "OPTIONS" });
  await mcp.body?.cancel();
  if (mcp.status === 404) return [];
  return [
    response.ok ? ok("resource", `MCP clients find ${new URL(place).pathname}`) : fail(
      "resource",
      `${place} is status ${response.status}: MCP clients do not find the authorization server`,
      "let the proxy pass all of /.well-known/oauth-* to the server",
    ),
  ];
}

/** Whether what is sent is encrypted, and a browser that begins with http comes to https. */
export async function checkHttps({ protocol, hostname, port }: URL): Promise<readonly Finding[]> {
  if (protocol === "http:") {
    return [
      isLoopbackHost(hostname)
        ? ok("https", "the server is on loopback, where http is enough")
        : fail("https", "passwords and tokens are sent unencrypted", "use https, with a proxy or --tls-cert"),
    ];
  }
  const secure = ok("https", "the server is reached by https");
  if (port !== "") return [secure];
  const response = await ask(`http://${hostname}/`).catch(() => undefined);
  await response?.body?.cancel();
  const leads = response?.headers.get("location")?.startsWith("https://");
  if (!response || response.status >= 300 && response.status < 400 && leads) return [secure];
  const what = `http://${hostname}/ is status ${response.status} instead of a redirect to https`;
  return [warn("https", what, "let the proxy redirect http to https, or close port 80")];
}

/** Compares the Date field with the clock of this machine. */
export async function checkDate(url: URL, now: () => number): Promise<readonly Finding[]> {
  const began = now();
  const response = await ask(url, { method: "HEAD" });
  await response.body?.cancel();
  const date = Date.parse(response.headers.get("date") ?? "");
  if (Number.isNaN(date)) return [ok("clock", "the server sends no Date field to compare")];
  // The field has whole seconds, and is from the middle of the round trip.
  const difference = date + 500 - (began + now()) / 2;
  return [judgeClock(url.host, difference)];
}

/** Whether the server wants requests. One that has its health checks on a port of their own is 404 here. */
export async function checkReady(url: URL): Promise<readonly Finding[]> {
  const response = await ask(`${url.origin}/readyz`);
  const text = (await response.text()).slice(0, 60).replace(/[^\x20-\x7e]/g, " ");
  if (response.status === 200) return [ok("ready", "the server is ready")];
  if (response.status !== 503) return [];
  return [fail("ready", `the server is not ready: ${text}`, "see its log")];
}

/**
 * `@cloudflare/workers-oauth-provider` on workerd, started by Miniflare, with Miniflare's KV in a temporary folder, in
 * memory where the system has such a folder.
 * The authorization endpoint is the user's in this package: here a form signs in and a cookie identifies the user. The
 * processor time is that of workerd's process.
 *
 * @module
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { findChildren, readProcessorTime } from "../measuring/process_time.ts";
import { CLIENT, type Command, LIFETIME_SECONDS, USER } from "./child.ts";

const WORKER = `
import OAuthProvider from "./oauth-provider.js";
const form = (url) => new Response(
  '<form method="post" action="/login' + url.search.replaceAll("&", "&amp;") +
    '"><input name="login"><input name="password"></form>',
  { headers: { "content-type": "text/html" } },
);
const defaultHandler = {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/login") {
      const fields = await request.formData();
      if (fields.get("login") !== env.USER.username || fields.get("password") !== env.USER.password) {
        return new Response(null, { status: 403 });
      }
      const sid = crypto.randomUUID();
      await env.OAUTH_KV.put("session:" + sid, "alice");
      const headers = { "set-cookie": "sid=" + sid + "; HttpOnly", location: "/authorize" + url.search };
      return new Response(null, { status: 303, headers });
    }
    if (url.pathname !== "/authorize") return new Response(null, { status: 404 });
    const sid = /\\bsid=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1];
    const userId = sid && await env.OAUTH_KV.get("session:" + sid);
    if (!userId) return form(url);
    const parsed = await env.OAUTH_PROVIDER.parseAuthRequest(request);
    const { redirectTo } = await env.OAUTH_PROVIDER.completeAuthorization({
      request: parsed, userId, metadata: {}, scope: parsed.scope, props: { userId }, revokeExistingGrants: false,
    });
    return new Response(null, { status: 302, headers: { location: redirectTo } });
  },
};
export default new OAuthProvider({
  apiRoute: "/api/",
  apiHandler: { fetch: async () => new Response("ok") },
  defaultHandler,
  resourceMetadata: { resource: "http://127.0.0.1/api/" },
  authorizeEndpoint: "/authorize",
  tokenEndpoint: "/token",
  scopesSupported: ["read"],
  accessTokenTTL: ${LIFETIME_SECONDS},
  refreshTokenTTL: ${LIFETIME_SECONDS},
});
`;

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "trivet-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const contents = readFileSync(fileURLToPath(process.argv[2]!), "utf8");
const miniflare = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  modules: [
    { type: "ESModule", path: "worker.js", contents: WORKER },
    { type: "ESModule", path: "oauth-provider.js", contents },
  ],
  compatibilityDate: "2026-07-01",
  compatibilityFlags: ["nodejs_compat", "global_fetch_strictly_public"],
  kvNamespaces: ["OAUTH_KV"],
  kvPersist: folder,
  bindings: { USER },
  handleStructuredLogs: () => {},
});
const { port } = await miniflare.ready;
const client = {
  clientId: CLIENT.id,
  clientSecret: createHash("sha256").update(CLIENT.secret).digest("hex"),
  redirectUris: [CLIENT.redirect_uri],
  grantTypes: ["authorization_code", "refresh_token"],
  responseTypes: ["code"],
  registrationDate: Math.floor(Date.now() / 1000),
  tokenEndpointAuthMethod: "client_secret_post",
};
// Its type is one of `@cloudflare/workers-types`, which is not installed.
const namespace = await miniflare.getKVNamespace("OAUTH_KV") as unknown as {
  put(key: string, value: string): Promise<void>;
};
await namespace.put(`client:${CLIENT.id}`, JSON.stringify(client));
const workers = findChildren(process.pid);

process.on("message", (command: Command) => {
  if (!("processorTime" in command)) throw new Error("workers-oauth-provider has no client_credentials");
  process.send!(workers.reduce((sum, pid) => sum + readProcessorTime(pid), 0));
});
// workerd is a process of its own, which would go on.
process.on("disconnect", () => void miniflare.dispose().finally(() => process.exit()));
console.log(port);

/**
 * The guard of the README, with tokens of servers on a socket: another Trivet, and oidc-provider.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import { type Principal, resourceServer } from "../../resource_server.ts";
import { entries } from "../test_entries.ts";
import { isOidcProviderInstalled, OIDC_PROVIDER, startOidcProvider } from "./test_oidc_provider.ts";

const test = suite("protect: tokens of other issuers");
const [, serve] = Object.entries(entries)[0]!;
const API = "https://api.example.com";
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const section = /\n## Protect your own API\n(.*?)\n## /s.exec(
  readFileSync(join(ROOT, "README.md"), "utf8"),
)![1]!;
const source = /```ts\n(import \{ resourceServer.*?)```/s.exec(section)![1]!;

/** The README's module, for this issuer. */
async function loadReadme(issuer: string): Promise<(request: Request) => Promise<Response>> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-protect-"));
  try {
    const file = join(folder, "api.ts");
    const entry = pathToFileURL(join(ROOT, "src/resource_server.ts")).href;
    writeFileSync(file, source.replace("trivet/protect", entry).replace("https://login.example.com", issuer));
    return (await import(pathToFileURL(file).href)).default.fetch;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the README's guard has 9 lines and accepts only tokens of its issuer and resource", async () => {
  assert.is(source.trim().split("\n").length, 9);
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  const server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  const issuer = `http://127.0.0.1:${server.port}`;
  resolve(createTrivet({
    issuer,
    store: memoryStore(),
    oauth: {
      clients: [{ id: "worker", secret: "s3cret", grant_types: ["client_credentials"] }],
      scopes: { "orders.read": "Read your orders", "orders.write": "Change your orders" },
      resources: [{ resource: API, accessTokenFormat: "jwt" }],
    },
  }));
  try {
    const fetchApi = await loadReadme(issuer);
    const call = async (scope: string | undefined, resource = API) => {
      const form = {
        grant_type: "client_credentials",
        client_id: "worker",
        client_secret: "s3cret",
        resource,
      };
      const body = new URLSearchParams({ ...form, ...(scope !== undefined && { scope }) });
      const issued = await fetch(`${issuer}/oauth/token`, { method: "POST", body });
      assert.is(issued.status, 200);
      const { access_token } = await issued.json();
      return await fetchApi(
        new Request(`${API}/1`, { headers: { authorization: `Bearer ${access_token}` } }),
      );
    };
    const good = await call("orders.read");
    assert.equal([good.status, await good.json()], [200, { hello: "worker" }]);
    assert.is((await call("orders.write")).status, 403);
    assert.is((await call("orders.read", `${issuer}/mcp`)).status, 401);
    assert.is((await fetchApi(new Request(`${API}/1`))).status, 401);
    await server.close();
    const other = await loadReadme(issuer);
    const late = await other(
      new Request(API, { headers: { authorization: `Bearer ${unverifiedJwt(issuer)}` } }),
    );
    assert.equal([late.status, late.headers.get("retry-after")], [503, "5"], "the issuer is unavailable");
  } finally {
    await server.close();
  }
});

/** A JWT with valid claims and an invalid signature. */
function unverifiedJwt(issuer: string): string {
  const encode = (value: object) =>
    btoa(JSON.stringify(value)).replace(/=/g, "").replace(/\+/g, "-").replace(/\//g, "_");
  const exp = Math.floor(Date.now() / 1000) + 60;
  const claims = { iss: issuer, aud: API, sub: "a", client_id: "a", exp };
  return `${encode({ alg: "ES256", typ: "at+jwt", kid: "k" })}.${encode(claims)}.${"A".repeat(86)}`;
}

if (isOidcProviderInstalled) {
  test("the guard accepts JWTs and introspected tokens of oidc-provider", async () => {
    const { vars: { clients, resources } } = JSON.parse(
      readFileSync(join(OIDC_PROVIDER, "target.json"), "utf8"),
    );
    const provider = await startOidcProvider();
    try {
      const { issuer } = provider;
      const resource: string = resources.one;
      const token = async ({ id, secret }: { id: string; secret: string }, resource: string) => {
        const body = new URLSearchParams({ grant_type: "client_credentials", scope: "openid", resource });
        const authorization = `Basic ${btoa(`${id}:${secret}`)}`;
        const issued = await fetch(`${issuer}/token`, { method: "POST", headers: { authorization }, body });
        assert.is(issued.status, 200);
        return (await issued.json()).access_token as string;
      };
      const { id: clientId, secret: clientSecret } = clients.service;
      for (
        const [client, guard] of [
          [clients.jwt, resourceServer({ issuer, resource })],
          [clients.service, resourceServer({ issuer, resource, introspection: { clientId, clientSecret } })],
        ] as const
      ) {
        const call = async (text: string, scopes: readonly string[] = []) =>
          await guard.protect(new Request(resource, { headers: { authorization: `Bearer ${text}` } }), {
            scopes,
          });
        const good = await token(client, resource);
        const caller = await call(good, ["openid"]) as Principal;
        assert.equal([caller.client, caller.issuer, [...caller.scopes]], [client.id, issuer, ["openid"]]);
        assert.is((await call(good, ["profile"]) as Response).status, 403);
        assert.is((await call(await token(client, resources.two)) as Response).status, 401);
        assert.is((await call(good.slice(0, -6) + "AAAAAA") as Response).status, 401);
      }
    } finally {
      provider.stop();
    }
  });
} else skipBecause(test, "oidc-provider is not installed (npm ci in conformance/targets/oidc-provider)");

test.run();

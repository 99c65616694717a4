/**
 * `toNodeGuard` on `node:http` and in the real Express.
 *
 * @module
 */
import express from "express";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Principal } from "../http/principal.ts";
import { createTrivet, memoryStore, type Trivet } from "../mod.ts";
import { sendRaw } from "../end_to_end/test_entries.ts";
import { type NodeGuardRequest, toNodeGuard } from "./node_listener.ts";

const test = suite("toNodeGuard");
const trivet: Trivet = createTrivet({
  issuer: "http://127.0.0.1:1",
  store: memoryStore(),
  mcp: false,
  skills: false,
  oauth: { clients: [{ id: "app", secret: "s3cret", grant_types: ["client_credentials"] }] },
});

async function token(scope: string): Promise<{ authorization: string }> {
  const form = { grant_type: "client_credentials", client_id: "app", client_secret: "s3cret", scope };
  const body = new URLSearchParams(form);
  const issued = await trivet.fetch(new Request("http://127.0.0.1:1/oauth/token", { method: "POST", body }));
  return { authorization: `Bearer ${(await issued.json()).access_token}` };
}

async function listen(server: Server): Promise<{ url: string; port: number; close(): void }> {
  if (!server.listening) await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(0)));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("lets callers through, sends 401 and 403, and leaves the body to the route", async () => {
  const guard = toNodeGuard(trivet, { scopes: ["write"] });
  const listener: RequestListener = async (request, response) => {
    const caller = await guard(request, response);
    if (!caller) return;
    let body = "";
    for await (const chunk of request) body += chunk;
    response.end(`${caller.client} ${(request as NodeGuardRequest).principal === caller} ${body}`);
  };
  const { url, port, close } = await listen(createServer(listener));
  try {
    const send = async (headers: Record<string, string>) =>
      await fetch(`${url}/orders`, { method: "POST", headers, body: "one" });
    const refused = await send({});
    assert.is(refused.status, 401);
    assert.match(refused.headers.get("www-authenticate")!, 'scope="write"');
    assert.is((await send(await token("read"))).status, 403);
    const good = await send(await token("write"));
    assert.equal([good.status, await good.text()], [200, "app true one"]);
    const malformed = await sendRaw(port, "GET /orders HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n");
    assert.match(malformed, "HTTP/1.1 400");
  } finally {
    close();
  }
});

test("is a middleware of Express, also below a path, and reports failures to its error handler", async () => {
  const app = express();
  const hello = (request: { principal: Principal }, response: { json(body: unknown): void }) =>
    response.json(request.principal.client);
  app.use("/api", toNodeGuard(trivet));
  app.get("/api/orders", hello);
  app.get("/other", toNodeGuard(trivet, { resource: "https://not-configured.example" }), hello);
  // deno-lint-ignore no-explicit-any
  app.use((error: Error, _request: any, response: any, _next: unknown) =>
    response.status(500).json(error.name)
  );
  const { url, close } = await listen(app.listen(0, "127.0.0.1"));
  try {
    assert.is((await fetch(`${url}/api/orders`)).status, 401);
    assert.is(await (await fetch(`${url}/api/orders`, { headers: await token("read") })).json(), "app");
    assert.is(await (await fetch(`${url}/other`)).json(), "TypeError");
  } finally {
    close();
  }
});

test("on node:http a failure is 500 without the error", async () => {
  const guard = toNodeGuard({ protect: () => Promise.reject(new Error("secret")) });
  const { url, close } = await listen(createServer((request, response) => void guard(request, response)));
  try {
    const response = await fetch(url);
    assert.is(response.status, 500);
    assert.not.match(await response.text(), "secret");
  } finally {
    close();
  }
});

test.run();

/**
 * Checks what is between the clients and a running server: that a proxy passes the host, the address of the client, large
 * bodies and streams, and keeps connections open.
 *
 * @module
 */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { listAudit } from "../../../observability/read_audit.ts";
import { type Store, timeOf } from "../../../store/store.ts";
import { isLoopbackHost } from "../../../http/network/loopback.ts";
import { type Credentials, toCredentialFields } from "../api/credentials.ts";
import { ask } from "./check_url.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

/** Below the limit of the server for a message, which is 4 MiB. */
const BODY_BYTES = 3 * 1024 * 1024;
const STREAM_TIMEOUT_MS = 4000;
const AUDIT_TIMEOUT_MS = 3000;
const REVISION = "2026-07-28";
const META = "io.modelcontextprotocol/";
/** Of a network for documentation (RFC 5737): no client has it. */
const SPOOFED = "192.0.2.77";

const at = (url: URL, path: string) => new URL(path, url.href.replace(/\/?$/, "/"));
const JSON_FIELDS = { "content-type": "application/json" };

/** Whether the server gets the host that the client named: a ping with another one is refused. */
export async function checkHost(url: URL, credentials: Credentials | undefined): Promise<readonly Finding[]> {
  const response = await ask(at(url, "mcp"), {
    method: "POST",
    headers: { ...JSON_FIELDS, ...toCredentialFields(credentials) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.body?.cancel();
  if (response.status === 404) return [];
  if (response.status === 403) {
    const advice = `let the proxy pass the Host field, or start the server with --allow-host ${url.host}`;
    return [fail("host", "the server refuses the host that it sees", advice)];
  }
  return [ok("host", "the server gets the host that clients name")];
}

/** Whether the first event of a stream arrives while the stream is open. */
export async function checkStream(
  url: URL,
  credentials: Credentials | undefined,
): Promise<readonly Finding[]> {
  const method = "subscriptions/listen";
  const _meta = {
    [META + "protocolVersion"]: REVISION,
    [META + "clientInfo"]: { name: "trivet doctor", version: "1" },
    [META + "clientCapabilities"]: {},
  };
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), STREAM_TIMEOUT_MS);
  try {
    const response = await ask(at(url, "mcp"), {
      method: "POST",
      headers: {
        ...JSON_FIELDS,
        ...toCredentialFields(credentials),
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": REVISION,
        "mcp-method": method,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: "doctor",
        method,
        params: { notifications: { toolsListChanged: true }, _meta },
      }),
      signal: stop.signal,
    });
    if (response.status === 401) {
      const advice = "set TRIVET_API_KEY or TRIVET_TOKEN to check streams";
      return [warn("stream", "streams were not checked: the tools need a token", advice)];
    }
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return [];
    const { value } = await response.body!.getReader().read();
    if (value && value.length > 0) return [ok("stream", "events of a stream arrive at once")];
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
  return [
    fail("stream", "events of a stream do not arrive while it is open", "let the proxy buffer no responses"),
  ];
}

/** Whether a connection stays open for the next request (RFC 9112 section 9.3). */
export async function checkKeepAlive(url: URL): Promise<readonly Finding[]> {
  const connection = await new Promise<string>((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const request = send(
      url,
      { method: "HEAD", headers: { connection: "keep-alive" }, timeout: 8000 },
      (response) => {
        response.resume();
        resolve(response.headers.connection ?? "");
        request.destroy();
      },
    );
    request.on("timeout", () => request.destroy(new Error("no answer in 8 seconds")));
    request.on("error", reject);
    request.end();
  });
  return [
    /\bclose\b/i.test(connection)
      ? warn("keep-alive", "each request needs a new connection", "let the proxy keep connections open")
      : ok("keep-alive", "connections stay open for the next request"),
  ];
}

/** Whether a body that the server would read passes. */
export async function checkBody(url: URL, credentials: Credentials | undefined): Promise<readonly Finding[]> {
  const response = await ask(at(url, "mcp"), {
    method: "POST",
    headers: { ...JSON_FIELDS, ...toCredentialFields(credentials) },
    body: JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/doctor",
      params: { x: "x".repeat(BODY_BYTES) },
    }),
  });
  await response.body?.cancel();
  if (response.status === 413) {
    const advice = "let the proxy pass bodies of 8 MiB (uploads of skills), such as client_max_body_size 8m";
    return [fail("body", "a body of 3 MiB is refused", advice)];
  }
  return [ok("body", "a body of 3 MiB passes")];
}

/**
 * Whether the server knows the addresses of its clients: a login that fails on purpose, with an address that a client made
 * up, is in the audit trail.
 */
export async function checkAddress(url: URL, store: Store): Promise<readonly Finding[]> {
  const response = await ask(at(url, "login"), {
    method: "POST",
    headers: { "x-forwarded-for": SPOOFED },
    body: new URLSearchParams({ username: "trivet doctor", password: "not a password" }),
  });
  await response.body?.cancel();
  const request = response.headers.get("x-request-id");
  const ip = request === null ? undefined : await findAddress(store, request);
  if (ip === undefined) {
    const advice = "start the server with --audit on, and name its own store";
    return [warn("address", "the addresses of clients were not checked: no audit record", advice)];
  }
  if (ip === SPOOFED) {
    const advice = "trust no more proxies than there are, and let the outermost one replace X-Forwarded-For";
    return [fail("address", "the server takes an address that the client made up", advice)];
  }
  const isProxy = !isLoopbackHost(url.hostname) && isLoopbackHost(ip);
  return [
    isProxy
      ? fail(
        "address",
        `every client has the address ${ip} of the proxy`,
        `start the server with --trusted-proxy ${ip}`,
      )
      : ok("address", `the server sees this machine as ${ip}, whatever X-Forwarded-For says`),
  ];
}

async function findAddress(store: Store, request: string): Promise<string | undefined> {
  const end = performance.now() + AUDIT_TIMEOUT_MS;
  const since = timeOf(store) - 60_000;
  while (performance.now() < end) {
    for await (const record of listAudit(store, { types: ["login_failed"], since })) {
      if (record.request === request) {
        return record.fields.ip === undefined ? undefined : String(record.fields.ip);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return undefined;
}

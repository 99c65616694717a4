/**
 * A small authorization server: metadata, sign-in page, consent page, codes with PKCE. It has one fault:
 * codes can be used repeatedly. Imported by tests only.
 *
 * @module
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const CLIENTS: Readonly<Record<string, string>> = { app: "https://app.example/cb" };
const USERS: Readonly<Record<string, string>> = { alice: "wonderland" };

interface Grant {
  readonly client: string;
  readonly challenge: string | null;
}

export interface OAuthServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startOAuthServer(): Promise<OAuthServer> {
  const sessions = new Map<string, string>();
  const codes = new Map<string, Grant>();
  const random = () => randomBytes(16).toString("hex");

  const isSignedIn = (request: IncomingMessage) =>
    sessions.has(/sid=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? "");

  async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      return page(
        response,
        200,
        '<input name="username"><input name="password" type="password"><button>Sign in</button>',
      );
    }
    const form = await bodyOf(request);
    const name = form.get("username") ?? "";
    if (USERS[name] === undefined || USERS[name] !== form.get("password")) return page(response, 401, "No.");
    const session = random();
    sessions.set(session, name);
    go(response, "/", { "set-cookie": `sid=${session}; Path=/; HttpOnly` });
  }

  async function authorize(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = request.method === "POST" ? await bodyOf(request) : url.searchParams;
    const client = asked.get("client_id") ?? "";
    const to = asked.get("redirect_uri");
    if (CLIENTS[client] === undefined || to !== CLIENTS[client]) {
      return page(response, 400, "I do not know this app.");
    }
    const back = new URL(to);
    if (asked.get("state")) back.searchParams.set("state", asked.get("state")!);
    if (asked.get("response_type") !== "code") {
      back.searchParams.set(
        "error",
        asked.get("response_type") ? "unsupported_response_type" : "invalid_request",
      );
      return go(response, back.href);
    }
    if (!isSignedIn(request)) return go(response, "/login");
    if (request.method === "GET") {
      const hidden = [...asked].map(([name, value]) =>
        `<input type="hidden" name="${name}" value="${
          value.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
        }">`
      );
      return page(response, 200, `${hidden.join("")}<button name="decision" value="yes">Allow</button>`);
    }
    const code = random();
    codes.set(code, { client, challenge: asked.get("code_challenge") });
    back.searchParams.set("code", code);
    go(response, back.href);
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = await bodyOf(request);
    const refuse = (error: string) => json(response, 400, { error });
    if (form.get("grant_type") !== "authorization_code") return refuse("unsupported_grant_type");
    const grant = codes.get(form.get("code") ?? "");
    if (!grant || grant.client !== form.get("client_id")) return refuse("invalid_grant");
    const computed = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    if (grant.challenge && computed !== grant.challenge) return refuse("invalid_grant");
    json(response, 200, { access_token: random(), token_type: "Bearer", expires_in: 600 });
  }

  const server = createServer(async (request, response) => {
    const base = `http://${request.headers.host}`;
    const url = new URL(request.url ?? "/", base);
    if (url.pathname === "/login") return await login(request, response);
    if (url.pathname === "/authorize") return await authorize(url, request, response);
    if (url.pathname === "/token") return await token(request, response);
    if (url.pathname !== "/.well-known/oauth-authorization-server") {
      return page(response, 404, "Nothing here.");
    }
    json(response, 200, {
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code"],
      code_challenge_methods_supported: ["S256"],
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
}

function page(response: ServerResponse, status: number, inside: string): void {
  response.writeHead(status, { "content-type": "text/html" });
  response.end(`<!doctype html><title>Server</title><form method="post">${inside}</form>`);
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(value));
}

function go(response: ServerResponse, location: string, more: Readonly<Record<string, string>> = {}): void {
  response.writeHead(302, { location, ...more });
  response.end();
}

/**
 * Sign-in at real identity providers, from the bare URL of an MCP server: oidc-provider, and another Trivet.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v2 from "@modelcontextprotocol/client";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser, createTrivet, memoryStore, type Store, tool, type Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { serverSecret } from "../../server_secret.ts";
import {
  addProvider,
  createSecretSealer,
  listLinkedUsers,
  oidc,
  type SignInProvider,
} from "../../sign_in.ts";
import { entries } from "../test_entries.ts";
import { isOidcProviderInstalled, OIDC_PROVIDER, startOidcProvider } from "./test_oidc_provider.ts";

const test = suite("sign-in at real identity providers");
const [, serve] = Object.entries(entries)[0]!;
const CALLBACK = "http://127.0.0.1/callback";

interface Running {
  readonly server: RunningServer;
  readonly issuer: string;
  readonly store: Store;
}

/** Other host names than the provider's: cookies do not distinguish ports. */
async function start(host: string, options: (issuer: string) => Record<string, unknown>): Promise<Running> {
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  const server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  const issuer = `http://${host}:${server.port}`;
  const store = memoryStore();
  const whoAmI = tool({
    name: "who",
    description: "Says who calls",
    run: (_, { principal }) => principal?.subject ?? "no one",
  });
  resolve(
    createTrivet({ issuer, store, oauth: options(issuer), mcp: { auth: "required", definitions: [whoAmI] } }),
  );
  return { server, issuer, store };
}

/** A browser that does what a user does: chooses the provider, signs in there, and consents everywhere. */
async function browse(start: URL, login: Record<string, string>): Promise<URL> {
  const jars = new Map<string, Map<string, string>>();
  let url = start;
  let form: Record<string, string> | undefined;
  for (let step = 0; step < 25; step++) {
    if (url.origin === new URL(CALLBACK).origin) return url;
    const jar = jars.get(url.hostname) ?? new Map<string, string>();
    jars.set(url.hostname, jar);
    const response = await fetch(url, {
      redirect: "manual",
      headers: { accept: "text/html", cookie: [...jar].map((pair) => pair.join("=")).join("; ") },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      if (value === "") jar.delete(name!);
      else jar.set(name!, value!);
    }
    form = undefined;
    const location = response.headers.get("location");
    const page = await response.text();
    if (location !== null) {
      url = new URL(location, url);
      continue;
    }
    const unescaped = page.replaceAll("&amp;", "&");
    const link = /href="([^"]*\/login\/work[^"]*)"/.exec(unescaped)?.[1];
    if (link !== undefined) {
      url = new URL(link, url);
      continue;
    }
    const action = /<form[^>]* action="([^"]+)"/.exec(unescaped)?.[1];
    if (action === undefined) {
      throw new Error(`unexpected page at ${url.pathname} (${response.status}): ${page}`);
    }
    const hidden = [...unescaped.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const fields = [...unescaped.matchAll(/<input[^>]* name="([^"]+)"/g)].map(([, name]) => name!);
    form = {
      ...Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])),
      ...Object.fromEntries(Object.entries(login).filter(([name]) => fields.includes(name))),
      ...(unescaped.includes('name="decision"') && { decision: "approve" }),
    };
    url = new URL(action, url);
  }
  throw new Error("too many steps");
}

/** The official MCP client, which knows nothing but the URL: what the tool says. */
async function callFromBareUrl(issuer: string, login: Record<string, string>): Promise<string> {
  const stored: Record<string, unknown> = {};
  let redirect: URL | undefined;
  const provider = {
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: "agent", redirect_uris: [CALLBACK] },
    clientInformation: () => stored["client"],
    saveClientInformation: (client: unknown) => void (stored["client"] = client),
    tokens: () => stored["tokens"],
    saveTokens: (tokens: unknown) => void (stored["tokens"] = tokens),
    redirectToAuthorization: (url: URL) => void (redirect = url),
    codeVerifier: () => stored["verifier"],
    saveCodeVerifier: (verifier: string) => void (stored["verifier"] = verifier),
    discoveryState: () => stored["discovery"],
    saveDiscoveryState: (state: unknown) => void (stored["discovery"] = state),
  } as unknown as v2.OAuthClientProvider;
  const transport = () =>
    new v2.StreamableHTTPClientTransport(new URL("/mcp", issuer), { authProvider: provider });
  const first = transport();
  const error = await new v2.Client({ name: "t", version: "1" }).connect(first).catch((error) => error);
  assert.match(String(error), /Unauthorized/i);
  const { searchParams } = await browse(redirect!, login);
  assert.is(searchParams.get("error_description"), null);
  await first.finishAuth(searchParams.get("code")!, searchParams.get("iss")!);
  const client = new v2.Client({ name: "t", version: "1" });
  await client.connect(transport());
  const result = await client.callTool({ name: "who", arguments: {} }) as { content: { text: string }[] };
  await client.close();
  return result.content[0]!.text;
}

async function checkSignIn(
  provider: SignInProvider,
  login: Record<string, string>,
  subject?: string,
): Promise<void> {
  const own = await start("localhost", () => ({ signIn: [provider], passwordLogin: false }));
  try {
    const caller = await callFromBareUrl(own.issuer, login);
    assert.match(caller, /^user_/);
    const [user] = await Array.fromAsync(listLinkedUsers(own.store));
    assert.is(user!.id, caller);
    if (subject !== undefined) assert.is(user!.subject, subject);
    // The next sign-in, in another browser, is the same user.
    assert.is(await callFromBareUrl(own.issuer, login), caller);
  } finally {
    await own.server.close();
  }
}

if (isOidcProviderInstalled) {
  test("an MCP client with nothing but a URL signs its user in at oidc-provider", async () => {
    const { vars: { users: { alice } } } = JSON.parse(
      readFileSync(join(OIDC_PROVIDER, "target.json"), "utf8"),
    );
    const upstream = await startOidcProvider();
    try {
      const { issuer } = upstream;
      const login = { name: alice.name, password: alice.password };
      const own = await start("localhost", () => ({ storedProviders: true }));
      try {
        const registered = await fetch(`${issuer}/reg`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            redirect_uris: [`${own.issuer}/login/work/callback`],
            application_type: "native",
            token_endpoint_auth_method: "client_secret_basic",
          }),
        });
        assert.is(registered.status, 201);
        const { client_id, client_secret } = await registered.json();
        await addProvider(own.store, createSecretSealer(serverSecret(own.store)), {
          kind: "oidc",
          id: "work",
          name: "Work",
          issuer,
          clientId: client_id,
          clientSecret: client_secret,
        });
        const caller = await callFromBareUrl(own.issuer, login);
        const [user] = await Array.fromAsync(listLinkedUsers(own.store));
        assert.equal([user!.id, user!.subject, user!.issuer], [caller, alice.name, issuer]);
        assert.is(await callFromBareUrl(own.issuer, login), caller);
      } finally {
        await own.server.close();
      }
    } finally {
      upstream.stop();
    }
  });
} else skipBecause(test, "oidc-provider is not installed (npm ci in conformance/targets/oidc-provider)");

test("an MCP client with nothing but a URL signs its user in at another Trivet", async () => {
  const CLIENT = { clientId: "other", clientSecret: "a secret of 32 characters or more" };
  const upstream = await start("127.0.0.1", () => ({
    openid: true,
    passwordIterations: 1000,
    clients: [{
      id: CLIENT.clientId,
      secret: CLIENT.clientSecret,
      domain: "unused.example",
      redirect_uris: ["http://localhost/login/work/callback"],
    }],
  }));
  try {
    const alice = await addUser(upstream.store, { username: "alice", password: "wonderland" }, 1000);
    const provider = oidc({ id: "work", name: "Work", issuer: upstream.issuer, ...CLIENT });
    await checkSignIn(provider, { username: "alice", password: "wonderland" }, alice.id);
  } finally {
    await upstream.server.close();
  }
});

test.run();

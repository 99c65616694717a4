/**
 * The attack published against a popular MCP framework: a malicious resource or client walks a signed-in user through an
 * approval that they gave another. Here by protocol; `../../end_to_end/oauth/browser_consent_attack_node_test.ts` performs
 * it in a browser.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { addClient, toClient } from "../clients/client.ts";
import { updateClient } from "../clients/client_changes.ts";
import type { ClientRegistration } from "../clients/client_registration.ts";
import { APP_URI, CHALLENGE, newServer, type TestServer, transactionOf } from "../test_server.ts";

const test = suite("oauth/remembered_consent");
const DOCUMENT = "https://doc.example/client";
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

/** A navigation to the server as browsers describe it. */
const NAVIGATIONS: Readonly<Record<string, Record<string, string>>> = {
  "another site": { "sec-fetch-site": "cross-site" },
  "another host of this site": { "sec-fetch-site": "same-site" },
  "another program, a mail or a bookmark": { "sec-fetch-site": "none" },
  "anything, in a browser without Sec-Fetch-Site": {
    "user-agent": "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Safari/605.1.15",
  },
};
const OWN = { "sec-fetch-site": "same-origin" };

const PUBLIC: ClientRegistration = { id: "spa", redirect_uris: ["https://spa.example/cb"] };
const LOOPBACK: ClientRegistration = { id: "cli", redirect_uris: ["http://127.0.0.1/callback"] };
const SCHEME: ClientRegistration = { id: "phone", redirect_uris: ["com.example.phone:/cb"] };
const WEB: ClientRegistration = { id: "app", secret: "app secret:&%+", redirect_uris: [APP_URI] };

async function newAttackServer(trustedClients: readonly string[] = []): Promise<TestServer> {
  const document = { client_id: DOCUMENT, redirect_uris: ["https://doc.example/cb"] };
  return await newServer({
    clients: [PUBLIC, LOOPBACK, SCHEME, WEB].map((client) => toClient(client, 0)),
    trustedClients: new Set(trustedClients),
    connect: () => Promise.resolve(Response.json(document)),
  });
}

interface Request {
  readonly [name: string]: string;
  readonly client_id: string;
  readonly redirect_uri: string;
}
const REQUESTS: Readonly<Record<string, Request>> = {
  "a web application": { client_id: "app", redirect_uri: APP_URI },
  "a public client": { client_id: "spa", redirect_uri: "https://spa.example/cb", ...PKCE },
  "a program on loopback": { client_id: "cli", redirect_uri: "http://127.0.0.1:9000/callback", ...PKCE },
  "an application with its own scheme": {
    client_id: "phone",
    redirect_uri: "com.example.phone:/cb",
    ...PKCE,
  },
  "a client with a metadata document": {
    client_id: DOCUMENT,
    redirect_uri: "https://doc.example/cb",
    ...PKCE,
  },
};

/** The cookies of a browser in which alice is signed in. */
async function signIn(server: TestServer): Promise<string> {
  const login = await server.send("/login", {
    form: { username: "alice", password: "wonderland" },
    headers: OWN,
  });
  return login.headers.getSetCookie().map((field) => field.split(";")[0]).join("; ");
}
const open = (server: TestServer, cookie: string, request: Request, headers: Record<string, string>) =>
  server.send(server.authorizePath(request), { headers: { cookie, ...headers } });

/** Signs in, allows the request, and returns the cookies: from then on the consent is remembered. */
async function allow(server: TestServer, request: Request): Promise<string> {
  const cookie = await signIn(server);
  const page = await open(server, cookie, request, OWN);
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  const answer = await server.send("/oauth/authorize", { form, headers: { cookie, ...OWN } });
  assert.ok(answer.headers.get("location")!.startsWith(request.redirect_uri));
  return cookie;
}
/** Whether the response is the consent page, and no redirect to the client. */
const isAsked = async (response: Response) =>
  response.status === 200 && response.headers.get("location") === null &&
  transactionOf(await response.text()) !== "";

for (const [what, request] of Object.entries(REQUESTS)) {
  for (const [from, headers] of Object.entries(NAVIGATIONS)) {
    test(`attack: ${from} walks the user through the approval of ${what}`, async () => {
      const server = await newAttackServer();
      const cookie = await allow(server, request);
      assert.ok(await isAsked(await open(server, cookie, { ...request, state: "attacker" }, headers)));
    });
  }

  test(`${what} is asked after a page of this server ${what === "a web application" ? "no more" : "too"}`, async () => {
    const server = await newAttackServer();
    const cookie = await allow(server, request);
    const response = await open(server, cookie, request, OWN);
    if (what === "a web application") assert.is(response.status, 302);
    else assert.ok(await isAsked(response));
  });

  test(`${what} that the operator trusts by name is asked only where RFC 8252 section 8.6 demands it`, async () => {
    const server = await newAttackServer([request.client_id]);
    const cookie = await allow(server, request);
    const response = await open(server, cookie, request, NAVIGATIONS["another site"]!);
    if (/^(http:|com\.)/.test(request.redirect_uri)) assert.ok(await isAsked(response));
    else assert.is(response.status, 302);
  });
}

test("attack: the client pushed the request for the attacker, who sends the user there", async () => {
  const server = await newAttackServer();
  const cookie = await allow(server, REQUESTS["a web application"]!);
  const push = async () => {
    const form = {
      client_id: "app",
      client_secret: "app secret:&%+",
      response_type: "code",
      redirect_uri: APP_URI,
      scope: "read",
    };
    return (await (await server.send("/oauth/par", { form })).json()).request_uri;
  };
  for (const [from, headers] of Object.entries(NAVIGATIONS)) {
    const path = `/oauth/authorize?client_id=app&request_uri=${encodeURIComponent(await push())}`;
    assert.ok(await isAsked(await server.send(path, { headers: { cookie, ...headers } })), from);
  }
});

test("attack: the same name and redirect URI, or another resource, under the approval of another client", async () => {
  const server = await newAttackServer();
  const cookie = await allow(server, REQUESTS["a web application"]!);
  const form = JSON.stringify({
    client_name: "app",
    redirect_uris: [APP_URI],
    token_endpoint_auth_method: "client_secret_basic",
  });
  const headers = { "content-type": "application/json" };
  const registered = await (await server.send("/oauth/register", { method: "POST", form, headers })).json();
  const request = { client_id: registered.client_id, redirect_uri: APP_URI };
  assert.ok(await isAsked(await open(server, cookie, request, OWN)));
  const resource = { ...REQUESTS["a web application"]!, resource: "https://as.example/mcp" };
  assert.ok(await isAsked(await open(server, cookie, resource, OWN)));
});

test("attack: a frame, an image or a fetch instead of a navigation", async () => {
  const server = await newAttackServer();
  const cookie = await allow(server, REQUESTS["a web application"]!);
  for (const dest of ["iframe", "image", "empty"]) {
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-dest": dest, "sec-fetch-mode": "no-cors" };
    const response = await open(server, cookie, REQUESTS["a web application"]!, headers);
    assert.match(response.headers.get("content-security-policy")!, "frame-ancestors 'none'");
    assert.ok(await isAsked(response));
  }
});

/** Redirect URIs of every kind, and what the page must name. */
const DESTINATIONS: readonly (readonly [registered: string, requested: string, shown: string])[] = [
  ["https://app.example/cb", "https://app.example/cb", "app.example"],
  ["https://app.example:8443/cb", "https://app.example:8443/cb", "app.example:8443"],
  [
    "https://app.example/cb?next=https://bank.example/",
    "https://app.example/cb?next=https://bank.example/",
    "app.example",
  ],
  [
    "https://bank.example.evil.example/cb",
    "https://bank.example.evil.example/cb",
    "bank.example.evil.example",
  ],
  ["https://xn--80ak6aa92e.com/cb", "https://xn--80ak6aa92e.com/cb", "xn--80ak6aa92e.com"],
  ["https://[2001:db8::1]/cb", "https://[2001:db8::1]/cb", "[2001:db8::1]"],
  ["http://127.0.0.1/cb", "http://127.0.0.1:50123/cb", "127.0.0.1:50123"],
  ["http://[::1]/cb", "http://[::1]:50123/cb", "[::1]:50123"],
  ["http://localhost/cb", "http://localhost:50123/cb", "localhost:50123"],
  ["com.example.app:/cb", "com.example.app:/cb", "com.example.app:"],
  ["com.example.app://bank.example/cb", "com.example.app://bank.example/cb", "com.example.app:"],
  ["cursor://anysphere.cursor-retrieval/cb", "cursor://anysphere.cursor-retrieval/cb", "cursor:"],
];

for (const isOperators of [true, false]) {
  for (const [registered, requested, shown] of DESTINATIONS) {
    for (const response_mode of [undefined, "form_post"]) {
      // No form can be posted to an application with its own scheme.
      if (response_mode !== undefined && !requested.startsWith("http")) continue;
      const mode = response_mode === undefined ? "" : `, ${response_mode}`;
      const kind = isOperators ? "the operator's client" : "a client that registered itself";
      test(`the page names where the code goes: ${requested} of ${kind}${mode}`, async () => {
        const metadata = { redirect_uris: [registered], token_endpoint_auth_method: "none" as const };
        const server = await newServer({
          responseModes: ["form_post"],
          clients: [toClient({ id: "own", ...metadata }, 0)],
        });
        const form = JSON.stringify(metadata);
        const headers = { "content-type": "application/json" };
        const client_id = isOperators
          ? "own"
          : (await (await server.send("/oauth/register", { method: "POST", form, headers })).json())
            .client_id;
        const cookie = await server.signIn();
        const request = {
          client_id,
          redirect_uri: requested,
          ...PKCE,
          ...(response_mode && { response_mode }),
        };
        const page = await (await open(server, cookie, request, {})).text();
        assert.match(page, `<strong>${shown}</strong>`);
        const text = page.replace(/<[^>]*>/g, " ");
        for (const host of ["bank.example", "anysphere"]) {
          assert.is(text.includes(host), shown.includes(host), `${host} is named`);
        }
        const decision = { transaction: transactionOf(page), decision: "approve" };
        const answer = await server.send("/oauth/authorize", { form: decision, headers: { cookie } });
        const target = response_mode === undefined
          ? answer.headers.get("location")!
          : /<form[^>]* action="([^"]+)"/.exec(await answer.text())![1]!.replaceAll("&amp;", "&");
        const { protocol, host } = new URL(target);
        const isWeb = protocol === "https:" || protocol === "http:";
        assert.is(isWeb ? host : protocol, shown);
        assert.ok(target.startsWith(requested));
      });
    }
  }
}

test("attack: a client that changes its name or redirect URIs while the page is open", async () => {
  const shop = { id: "shop", secret: "shop-secret", redirect_uris: ["https://shop.example/cb"] };
  const asked = { client_id: "shop", redirect_uri: shop.redirect_uris[0]!, ...PKCE };
  for (
    const changes of [
      { name: "Bank" },
      { redirect_uris: [...shop.redirect_uris, "https://other.example/cb"] },
    ]
  ) {
    const server = await newServer();
    await addClient(server.store, { ...shop, name: "Shop" });
    const headers = { cookie: await server.signIn() };
    const page = await server.send(server.authorizePath(asked), { headers });
    const form = { transaction: transactionOf(await page.text()), decision: "approve" };
    await updateClient(server.store, "shop", changes);
    const answer = await server.send("/oauth/authorize", { form, headers });
    assert.equal([answer.status, answer.headers.get("location")], [400, null]);
    assert.equal(await server.store.list(["consent"]), []);
    assert.is(
      (await server.send(server.authorizePath(asked), { headers })).status,
      200,
      "the page asks again",
    );
  }
});

test.run();

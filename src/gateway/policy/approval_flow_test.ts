import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../../events.ts";
import { closeDefinedScopes } from "../../oauth/grants/scope.ts";
import { tool } from "../../mcp/definition/define.ts";
import { addUser } from "../../oauth/users/user.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";
import { createPolicy } from "./policy.ts";

const test = suite("gateway/policy, approval flow");
const ISSUER = "https://gateway.example";
const REDIRECT = "https://app.example/cb";
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

async function setUp() {
  const store = memoryStore();
  const events: TrivetEvent[] = [];
  const observe = (event: TrivetEvent) => void events.push(event);
  const policy = createPolicy({ rules: [{ tools: "pay", effect: "ask" }] }, {
    store,
    now: Date.now,
    observe,
    place: ISSUER,
    hasPages: true,
    implied: closeDefinedScopes({}),
  });
  const paid: unknown[] = [];
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    onEvent: observe,
    oauth: {
      passwordIterations: 1000,
      clients: [{ id: "app", secret: "app-secret-app-secret", redirect_uris: [REDIRECT], name: "The App" }],
    },
    skills: false,
    mcp: {
      middleware: [policy.middleware],
      tools: [
        tool({
          name: "pay",
          description: "Pays",
          input: { type: "object", properties: { amount: { type: "number" } } },
          run: (args) => `paid ${paid.push(args)}`,
        }),
      ],
    },
  });
  const send = (path: string, init: RequestInit = {}) => trivet.fetch(new Request(ISSUER + path, init));
  const form = (fields: Record<string, string>, headers: Record<string, string> = {}): RequestInit => ({
    method: "POST",
    headers,
    body: new URLSearchParams(fields),
  });

  /** A user with a session and an access token. */
  async function newUser(username: string) {
    await addUser(store, { username, password: `password of ${username}` }, 1000);
    const login = await send("/login", form({ username, password: `password of ${username}` }));
    const cookie = login.headers.getSetCookie().map((field) => field.split(";")[0]).join("; ");
    const query = new URLSearchParams({
      response_type: "code",
      client_id: "app",
      redirect_uri: REDIRECT,
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
      resource: `${ISSUER}/mcp`,
    });
    const page = await (await send(`/oauth/authorize?${query}`, { headers: { cookie, accept: "text/html" } }))
      .text();
    const transaction = /name="transaction" value="([^"]+)"/.exec(page)![1]!;
    const consent = await send("/oauth/authorize", form({ transaction, decision: "approve" }, { cookie }));
    const code = new URL(consent.headers.get("location")!).searchParams.get("code")!;
    const answer = await send(
      "/oauth/token",
      form({
        grant_type: "authorization_code",
        code,
        redirect_uri: REDIRECT,
        code_verifier: VERIFIER,
        client_id: "app",
        client_secret: "app-secret-app-secret",
      }),
    );
    const { access_token } = await answer.json();
    const pay = async (amount: number): Promise<string> => {
      const response = await send("/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${access_token}` },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "pay", arguments: { amount } },
        }),
      });
      return (await response.json()).result.content[0].text;
    };
    const open = (path: string) => send(path, { headers: { cookie, accept: "text/html" } });
    return { pay, open, approve: (path: string) => send(path, form({ decision: "approve" }, { cookie })) };
  }
  return { newUser, paid, events };
}

test("a user approves on the page what their client could not ask them, and nobody else can", async () => {
  const { newUser, paid, events } = await setUp();
  const alice = await newUser("alice");
  const mallory = await newUser("mallory");
  const path = /https:\/\/gateway\.example(\/account\/approvals\/[\w-]{43})/.exec(await alice.pay(5))![1]!;
  assert.is((await mallory.open(path)).status, 404);
  assert.is((await mallory.approve(path)).status, 404);
  const page = await (await alice.open(path)).text();
  for (const text of ["The App", "pay", "amount", "5"]) assert.ok(page.includes(text), text);
  assert.is((await alice.approve(path)).status, 200);
  assert.match(await mallory.pay(5), "approval");
  assert.match(await alice.pay(50), "approval");
  assert.equal(paid, []);
  assert.is(await alice.pay(5), "paid 1");
  assert.match(await alice.pay(5), "approval");
  assert.equal(paid, [{ amount: 5 }]);
  const types = events.map(({ type }) => type);
  assert.is(types.filter((type) => type === "approval_given").length, 1);
  const outcomes = events.flatMap((event) => event.type === "tool_called" ? [event.outcome] : []);
  assert.equal(outcomes, ["asked", "asked", "asked", "ok", "asked"]);
});

test.run();

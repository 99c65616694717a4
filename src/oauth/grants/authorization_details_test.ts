import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readJws } from "../../crypto/jws.ts";
import type { AuthorizationDetailType } from "../authorization_server.ts";
import { toClient } from "../clients/client.ts";
import { APP_URI, newServer, type TestServer, transactionOf } from "../test_server.ts";

const test = suite("oauth/authorization_details");
const payment: AuthorizationDetailType = {
  check: ({ amount }) =>
    typeof amount === "number" && amount > 0 ? undefined : "amount must be a number over 0",
  describe: ({ amount, to }) => `Pay ${amount} euro to ${to}`,
};
const authorizationDetailTypes = {
  payment,
  calendar: { check: () => undefined, describe: () => "See your calendar" },
};
const PAY = { type: "payment", amount: 5, to: '<b>"Bob"</b>' };
const CALENDAR = { type: "calendar" };
const json = JSON.stringify;

async function tokens(server: TestServer, authorization_details: string, more: Record<string, string> = {}) {
  const code = (await server.authorize({ authorization_details })).get("code")!;
  return await (await server.token({
    grant_type: "authorization_code",
    code,
    redirect_uri: APP_URI,
    ...more,
  })).json();
}

test("RFC 9396 sections 2 and 7: granted details are in the token, the token response and introspection", async () => {
  const server = await newServer({ authorizationDetailTypes, accessTokenFormat: "jwt" });
  const body = await tokens(server, json([PAY]));
  assert.equal(body.authorization_details, [PAY]);
  assert.equal(readJws(body.access_token)!.claims.authorization_details, [PAY]);
  const form = { token: body.access_token, client_id: "web", client_secret: "web-secret" };
  assert.equal((await (await server.send("/oauth/introspect", { form })).json()).authorization_details, [
    PAY,
  ]);
});

test("the consent page shows the operator's description, escaped, and consent to details is not remembered", async () => {
  const server = await newServer({ authorizationDetailTypes });
  const cookie = await server.signIn();
  for (let i = 0; i < 2; i++) {
    const page =
      await (await server.send(server.authorizePath({ authorization_details: json([PAY, CALENDAR]) }), {
        headers: { cookie },
      })).text();
    assert.match(page, "Pay 5 euro to &lt;b&gt;&quot;Bob&quot;&lt;/b&gt;");
    assert.match(page, "See your calendar");
    await server.send("/oauth/authorize", {
      form: { transaction: transactionOf(page), decision: "approve" },
      headers: { cookie },
    });
  }
});

test("section 6: a token request may ask for a part of the granted details, in any order of members, and not for more", async () => {
  const server = await newServer({ authorizationDetailTypes });
  const first = await tokens(server, json([PAY, CALENDAR]), { authorization_details: json([CALENDAR]) });
  assert.equal(first.authorization_details, [CALENDAR]);
  const refresh = async (details?: string) => {
    const response = await server.token({
      grant_type: "refresh_token",
      refresh_token: first.refresh_token,
      authorization_details: details,
    });
    return await response.json();
  };
  assert.is((await refresh(json([{ ...PAY, amount: 50 }]))).error, "invalid_authorization_details");
  assert.equal((await refresh(json([{ to: PAY.to, amount: 5, type: "payment" }]))).authorization_details, [
    PAY,
  ]);
});

for (
  const [name, text] of [
    ["not JSON", "[{"],
    ["not an array", json(PAY)],
    ["an empty array", "[]"],
    ["not an object", "[1]"],
    ["null", "[null]"],
    ["no type", json([{ amount: 5 }])],
    ["an unknown type", json([{ type: "transfer" }])],
    ["a type inherited from Object", json([{ type: "constructor" }])],
    ["details that the check of the type refuses", json([{ type: "payment", amount: -5 }])],
    ["21 details", json(new Array(21).fill(CALENDAR))],
    ["too deep", "[".repeat(1000) + "]".repeat(1000)],
    ["too long", json([{ ...CALENDAR, text: "x".repeat(8200) }])],
  ] as const
) {
  test(`invalid_authorization_details: ${name}`, async () => {
    const server = await newServer({ authorizationDetailTypes });
    const form = { grant_type: "client_credentials", authorization_details: text };
    const response = await server.token(form);
    assert.equal([response.status, (await response.json()).error], [400, "invalid_authorization_details"]);
    const cookie = await server.signIn();
    const refused = await server.send(server.authorizePath({ authorization_details: text }), {
      headers: { cookie },
    });
    assert.is(
      new URL(refused.headers.get("location")!).searchParams.get("error"),
      "invalid_authorization_details",
    );
  });
}

test("section 10: a client is refused types that it is not registered for, and the metadata lists the types", async () => {
  const clients = [
    toClient({ id: "app", secret: "app secret:&%+", authorization_details_types: ["calendar"] }, 0),
  ];
  const server = await newServer({ authorizationDetailTypes, clients });
  const ask = async (detail: object) =>
    (await server.token({ grant_type: "client_credentials", authorization_details: json([detail]) })).status;
  assert.equal([await ask(CALENDAR), await ask(PAY)], [200, 400]);
  const metadata = await (await server.send("/.well-known/oauth-authorization-server")).json();
  assert.equal(metadata.authorization_details_types_supported, ["payment", "calendar"]);
});

test("section 10: a client gets no type that it is not registered for by an exchange or a refresh either", async () => {
  const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
  const app = { id: "app", secret: "app secret:&%+", domain: "app.example" };
  const gateway = {
    id: "gateway",
    secret: "g",
    grant_types: [EXCHANGE],
    authorization_details_types: ["calendar"],
  } as const;
  const before = await newServer({
    authorizationDetailTypes,
    clients: [toClient(app, 0), toClient(gateway, 0)],
  });
  const { access_token, ...first } = await tokens(before, json([PAY, CALENDAR]));
  const form = {
    grant_type: EXCHANGE,
    subject_token: access_token,
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    client_id: "gateway",
    client_secret: "g",
  };
  assert.equal((await (await before.token(form)).json()).authorization_details, [CALENDAR]);
  const { store, now } = before;
  const { payment: _, ...left } = authorizationDetailTypes;
  let { refresh_token } = first;
  for (
    const [changed, types] of [
      [{ ...app, authorization_details_types: ["calendar"] }, authorizationDetailTypes],
      [app, left],
    ] as const
  ) {
    const after = await newServer({
      store,
      now,
      authorizationDetailTypes: types,
      clients: [toClient(changed, 0)],
    });
    const refreshed = await (await after.token({ grant_type: "refresh_token", refresh_token })).json();
    assert.equal(refreshed.authorization_details, [CALENDAR]);
    ({ refresh_token } = refreshed);
  }
});

test("deeply nested details are refused at the token endpoint and the authorization endpoint", async () => {
  const server = await newServer({ authorizationDetailTypes });
  const nested = (depth: number) => `[{"type":"calendar","a":${"[".repeat(depth)}${"]".repeat(depth)}}]`;
  const ask = async (depth: number) => {
    const form =
      "grant_type=client_credentials&client_id=web&client_secret=web-secret&authorization_details=";
    const response = await server.send("/oauth/token", { form: form + nested(depth), method: "POST" });
    return [response.status, (await response.json()).error];
  };
  assert.equal(await ask(10), [200, undefined]);
  for (const depth of [30, 4000]) assert.equal(await ask(depth), [400, "invalid_authorization_details"]);
  const cookie = await server.signIn();
  const path = server.authorizePath({ authorization_details: nested(4000) });
  const refused = await server.send(path, { headers: { cookie } });
  const { searchParams } = new URL(refused.headers.get("location")!);
  assert.is(searchParams.get("error"), "invalid_authorization_details");
});

test.run();

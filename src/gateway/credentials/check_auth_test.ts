import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkFixedHeaders, checkUpstreamAuth } from "./check_auth.ts";

const test = suite("gateway/credentials/check_auth");
const URL = "https://api.example.com/mcp";
const PLACE = "mcpServers.a.auth";

const VALID: readonly object[] = [
  { type: "none" },
  { type: "secret" },
  { type: "secret", header: "X-Api-Key", template: "key {secret}", label: "API key" },
  { type: "oauth" },
  { type: "oauth", clientId: "a", clientSecret: "b", scopes: ["read"], issuer: "https://as.example.com" },
  {
    type: "token-exchange",
    clientId: "a",
    clientSecret: "b",
    tokenEndpointAuthMethod: "client_secret_post",
    tokenEndpoint: "https://as.example.com/token",
    subject: { provider: "entra", token: "id_token" },
    audience: "api",
  },
  { type: "id-jag", clientId: "a", issuer: "https://as.example.com" },
  {
    type: "id-jag",
    clientId: "a",
    issuer: "https://as.example.com",
    provider: { id: "okta", clientId: "b", tokenEndpoint: "https://idp.example.com/token" },
  },
  { type: "provider-token", provider: "entra", hosts: ["api.example.com"] },
];

test("each type is accepted as it is", () => {
  for (const auth of VALID) assert.is(checkUpstreamAuth(PLACE, auth, URL), auth);
});

const INVALID: readonly (readonly [place: string, auth: unknown])[] = [
  [PLACE, "oauth"],
  [PLACE, null],
  [PLACE, []],
  [`${PLACE}.type`, {}],
  [`${PLACE}.type`, { type: "toString" }],
  [`${PLACE}.secret`, { type: "none", secret: "x" }],
  [`${PLACE}.clientID`, { type: "oauth", clientID: "a" }],
  [`${PLACE}.clientSecret`, { type: "oauth", clientSecret: "b" }],
  [`${PLACE}.issuer`, { type: "oauth", clientId: "a", clientSecret: "b" }],
  [`${PLACE}.scopes`, { type: "oauth", scopes: "read write" }],
  [`${PLACE}.scopes`, { type: "oauth", scopes: ["read write"] }],
  [`${PLACE}.issuer`, { type: "oauth", issuer: "http://as.example.com" }],
  [`${PLACE}.issuer`, { type: "oauth", issuer: "https://u:p@as.example.com" }],
  [`${PLACE}.allowPrivateAddresses`, { type: "oauth", allowPrivateAddresses: "yes" }],
  [`${PLACE}.header`, { type: "secret", header: "a b" }],
  [`${PLACE}.header`, { type: "secret", header: "Mcp-Session-Id" }],
  [`${PLACE}.header`, { type: "secret", header: "Host" }],
  [`${PLACE}.template`, { type: "secret", template: "Bearer" }],
  [`${PLACE}.template`, { type: "secret", template: "{secret}{secret}" }],
  [`${PLACE}.template`, { type: "secret", template: "a\r\nb: {secret}" }],
  [`${PLACE}.clientId`, { ...VALID[5], clientId: undefined }],
  [`${PLACE}.tokenEndpoint`, { ...VALID[5], tokenEndpoint: "/token" }],
  [`${PLACE}.subject`, { ...VALID[5], subject: "entra" }],
  [`${PLACE}.subject.token`, { ...VALID[5], subject: { provider: "entra", token: "refresh_token" } }],
  [`${PLACE}.subject.provider`, { ...VALID[5], subject: {} }],
  [`${PLACE}.tokenEndpointAuthMethod`, { ...VALID[5], tokenEndpointAuthMethod: "private_key_jwt" }],
  [`${PLACE}.provider.tokenEndpoint`, { ...VALID[7], provider: { id: "okta", clientId: "b" } }],
  [`${PLACE}.hosts`, { type: "provider-token", provider: "entra", hosts: [] }],
  [`${PLACE}.hosts`, { type: "provider-token", provider: "entra", hosts: ["https://api.example.com"] }],
  [`${PLACE}.hosts`, { type: "provider-token", provider: "entra", hosts: ["other.example.com"] }],
];

test("an error names the place, and no value that may be secret", () => {
  for (const [place, auth] of INVALID) {
    try {
      checkUpstreamAuth(PLACE, auth, URL);
    } catch (error) {
      assert.ok(error instanceof TypeError && error.message.startsWith(`${place}: `), String(error));
      continue;
    }
    assert.unreachable(JSON.stringify(auth));
  }
});

test("fixed header fields do not set the field of the credentials, and have one line", () => {
  checkFixedHeaders("h", { Authorization: "Bearer x" }, { type: "none" });
  checkFixedHeaders("h", { authorization: "Bearer x" }, { type: "secret", header: "X-Api-Key" });
  const bad: readonly (readonly [Record<string, string>, Parameters<typeof checkFixedHeaders>[2]])[] = [
    [{ authorization: "hush" }, { type: "oauth" }],
    [{ "x-api-key": "hush" }, { type: "secret", header: "X-Api-Key" }],
    [{ a: "hush\nb: c" }, { type: "none" }],
    [{ "a b": "hush" }, { type: "none" }],
  ];
  for (const [headers, auth] of bad) {
    try {
      checkFixedHeaders("mcpServers.a.headers", headers, auth);
    } catch (error) {
      assert.match(String(error), /TypeError: mcpServers\.a\.headers\["/);
      assert.not.match(String(error), "hush");
      continue;
    }
    assert.unreachable(JSON.stringify(headers));
  }
});

test.run();

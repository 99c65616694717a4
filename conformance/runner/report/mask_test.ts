/**
 * Secrets are masked in every form, and other text is shown.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createMasker } from "./mask.ts";

const test = suite("mask");
const SECRET = "s3cr:et&%value";

test("secrets of the target are masked in every form", () => {
  const mask = createMasker({ clients: { web: { id: "web-client", secret: SECRET } } });
  const text = `a=${SECRET} b=${encodeURIComponent(SECRET)} c=${new URLSearchParams([[
    "x",
    SECRET,
  ]])} id=web-client`;
  const masked = mask(text);
  assert.not.match(masked, /s3cr/);
  assert.match(masked, /web-client/);
});

test("URLs of endpoints are shown, whatever their names", () => {
  const endpoints = { token: "https://as.example/oauth/token-of-a-long-name" };
  const text = "location: https://app.example/cb?iss=https%3A%2F%2Fas.example";
  assert.is(createMasker({ endpoints })(text), text);
});

const TEXTS: Readonly<Record<string, string>> = {
  "a token in JSON": '{"access_token":"abcdef123456","token_type":"Bearer"}',
  "a token with escapes in JSON": '{ "refresh_token" : "abcdef\\"123456" }',
  "a code in a redirect": "location: https://app.example/cb?state=ok&code=abcdef123456",
  "a code in a form": "grant_type=authorization_code&code=abcdef123456&x=1",
  "a verifier in a form": "code_verifier=abcdef123456",
  "a bearer token": "authorization: Bearer abcdef123456",
  "basic credentials": "Authorization: Basic abcdef123456",
  "an API key": "x-api-key: abcdef123456",
  "a cookie": "cookie: other=abcdef123456; session=abcdef1234567",
  "a cookie that is set": "set-cookie: session_id=abcdef123456; Path=/; HttpOnly",
  "a hidden field": '<input type="hidden" name="ticket" value="abcdef123456">',
  "a hidden field that was cut": '<input type="hidden" name="ticket" value="abcdef123456… (9000 bytes)',
};

for (const [name, text] of Object.entries(TEXTS)) {
  test(`${name} is masked`, () => {
    const masked = createMasker({})(text);
    assert.not.match(masked, /abcdef/);
    assert.match(masked, /‹secret 1›/);
  });
}

test("a secret has the same label everywhere", () => {
  const mask = createMasker({});
  mask('{"access_token":"first-token"}');
  assert.is(mask("Bearer second-one? no: first-token"), "Bearer second-one? no: ‹secret 1›");
  assert.is(mask("code=another-secret"), "code=‹secret 2›");
});

test("a secret in a page is masked, in whatever order its attributes are", () => {
  for (
    const page of [
      '<input name="csrf" value="abcdef123">',
      "<input name='csrf' type='hidden' value='abcdef123' />",
      '<input name="__RequestVerificationToken" type="hidden" value="abcdef123" />',
      '<input type="hidden" value="abcdef123" name="csrf">',
      "<INPUT VALUE=abcdef123 NAME=csrf>",
      '<meta name="csrf-token" content="abcdef123">',
    ]
  ) assert.is(createMasker({})(page), page.replace("abcdef123", "‹secret 1›"));
  const shown = '<input name="csrf" value=""><input name="state" value="abcdef123">';
  assert.is(createMasker({})(shown), shown);
});

test("a long secret is masked where it was cut", () => {
  const mask = createMasker({});
  const token = `eyJhbGciOiJFUzI1NiJ9.${"abc".repeat(100)}.sig-nature`;
  mask(`{"access_token":"${token}","x":1}`);
  assert.is(
    mask(`expected nothing, but it is "${token.slice(0, 200)}…`),
    'expected nothing, but it is "‹secret 1›…',
  );
  assert.is(
    createMasker({})(`{"access_token":"${token.slice(0, 99)}… (400 bytes)`),
    '{"access_token":"‹secret 1›',
  );
});

test("every member of a user but the name is secret, however short; metadata is not", () => {
  const mask = createMasker({
    users: { alice: { name: "alice", password: "pw1", pin: "0815" } },
    clients: { jwt: { id: "jwt", private: { kty: "EC", d: "OEFNrngjy6eT" } } },
    metadata: { token_endpoint_auth_methods_supported: ["none", "client_secret_basic"] },
    endpoints: { token: "/oauth/token" },
  });
  const text = "alice pw1 0815 EC OEFNrngjy6eT none client_secret_basic POST /oauth/token jwt";
  assert.is(
    mask(text).replace(/‹secret \d›/g, "#"),
    "alice # # EC # none client_secret_basic POST /oauth/token jwt",
  );
});

test("secrets in URLs and command lines are masked", () => {
  const mask = createMasker({});
  assert.is(mask("https://me:abcdef123@as.example/"), "https://‹secret 1›@as.example/");
  assert.is(mask("server --api-key abcdef123 --port 1"), "server --api-key ‹secret 2› --port 1");
});

test("in a URL, a password and a token are secret, a user name is not", () => {
  const registration = '{"redirect_uris":["http://127.0.0.1@evil.example/cb"]}\nhost: 127.0.0.1:8080';
  assert.is(createMasker({})(registration), registration);
  const resource =
    "https://known.example@evil.example/ and https://evil.example#@as.example/ at known.example";
  assert.is(createMasker({})(resource), resource);
  const loopback = '"redirect_uri":"http://127.0.0.1:49731@evil.example/" host: 127.0.0.1:49731';
  assert.match(createMasker({})(loopback), / host: 127\.0\.0\.1:49731$/);
  const masked = createMasker({})("http://alice:wonderland@127.0.0.1/ says wonderland to alice");
  assert.is(masked, "http://‹secret 1›@127.0.0.1/ says ‹secret 2› to alice");
  for (const after of ["", ":", ":x-oauth-basic"]) {
    const masked = createMasker({})(`https://ghp_abcdef1234567890${after}@as.example/ ghp_abcdef1234567890`);
    assert.not.match(masked, /abcdef|oauth/);
    assert.match(masked, /as\.example/);
  }
});

test("a progress token of MCP is shown, another token beside it is not", () => {
  const text = '{"method":"x","params":{"_meta":{"progressToken":"conformance-1"},"token":"abcdef123456"}}';
  const mask = createMasker({});
  assert.is(mask(text), text.replace("abcdef123456", "‹secret 1›"));
  assert.is(
    mask("progressToken=conformance-1 by conformance-1"),
    "progressToken=conformance-1 by conformance-1",
  );
  assert.is(mask('{"myProgressToken2":"1","in_progress_token":"abcdef123457"}').includes("abcdef"), false);
});

test("an error code of JSON-RPC is shown, also as a string", () => {
  const text = 'error: {"code":"-32600","message":"Invalid"}, expected -32600';
  assert.is(createMasker({})(text), text);
});

test("a plain word or host is masked where a secret is expected, and nowhere else", () => {
  const mask = createMasker({ users: { alice: { name: "alice", password: "wonderland" } } });
  const masked = mask(
    'host: 127.0.0.1\ncookie: theme=lighter; lang=english; sid=a1b2c3d4e5\n\n{"code":"unauthorized","token":"127.0.0.1"}',
  );
  assert.is(
    masked.replace(/‹secret \d›/g, "#"),
    'host: 127.0.0.1\ncookie: theme=#; lang=#; sid=#\n\n{"code":"#","token":"#"}',
  );
  assert.is(
    mask("unauthorized english 127.0.0.1 wonderland a1b2c3d4e5").replace(/‹secret \d›/g, "#"),
    "unauthorized english 127.0.0.1 # #",
  );
  // Secrets that people choose may be words.
  for (const name of ["password", "client_secret", "user_code", "api_key"]) {
    assert.not.match(createMasker({})(`${name}=sesame&x=1 and sesame`), /sesame/);
  }
});

test("a secret may be a word of the label", () => {
  const text = createMasker({ login: { password: "secret" } })("token=abcdefghij&password=secret");
  assert.match(text, /^token=‹secret \d›&password=‹secret \d›$/);
});

test("other text is unchanged", () => {
  const text =
    '{"error":"invalid_grant","status":400}\nlocation: https://app.example/cb?error=access_denied&state=xyzzy1';
  assert.is(createMasker({ login: { password: "password" } })(`${text}\npassword`), `${text}\npassword`);
});

test.run();

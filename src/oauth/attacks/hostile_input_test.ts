import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../../http/test_random.ts";
import { APP_URI, newServer } from "../test_server.ts";

const test = suite("oauth, hostile input");

const NAMES = (
  "response_type client_id client_secret redirect_uri scope state code code_verifier code_challenge " +
  "code_challenge_method grant_type refresh_token username password redirect transaction decision client_id[] a[b] __proto__"
).split(" ");
const VALUES = [
  "",
  "code",
  "app",
  "native",
  "app secret:&%+",
  APP_URI,
  "http://127.0.0.1/callback",
  "read",
  "S256",
  "plain",
  "authorization_code",
  "refresh_token",
  "client_credentials",
  "alice",
  "wonderland",
  "approve",
  "/",
  "//evil.example",
  "\u0000",
  "\ud800",
  "ü𝄞",
  "'\"><script>",
  "%00%ff%",
  "\r\nSet-Cookie: x=y",
  "trivet_rt_" + "x".repeat(22) + "." + "y".repeat(43),
  "x".repeat(5000),
  "[object Object]",
  "null",
  "-1",
  "1e999",
];
const FIELDS = [
  ["authorization", "Basic YXBwOg=="],
  ["authorization", "Basic ::::"],
  ["authorization", "Bearer a.b.c"],
  ["authorization", "Bearer trivet_at_x"],
  ["cookie", "session_id=x; session_id=y"],
  ["cookie", "=;;;session_id"],
  ["content-type", "application/json"],
  ["content-type", "application/x-www-form-urlencoded; charset=utf-16"],
  ["content-length", "99999999999"],
  ["origin", "null"],
  ["accept", "text/html;q=x,,,"],
] as const;
const PATHS = [
  "/oauth/authorize",
  "/oauth/token",
  "/api/user",
  "/login",
  "/logout",
  "/account",
  "/account/profile",
  "/account/password",
  "/account/sessions",
  "/account/applications",
  "/.well-known/jwks.json",
  "/.well-known/oauth-authorization-server",
  "/oauth/%61uthorize",
  "/oauth//token",
];

test("each of 3,000 generated requests gets a specified status, no fault, and no redirect to an unregistered URI", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const random = createRandom(20261120);
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)]!;
  const parameters = (): string =>
    Array.from({ length: random(9) }, () => `${encode(pick(NAMES))}=${encode(pick(VALUES))}`).join("&");
  const seen = new Map<number, number>();
  for (let i = 0; i < 3000; i++) {
    const method = pick(["GET", "POST", "POST", "HEAD", "OPTIONS", "DELETE"]);
    const headers: Record<string, string> = random(3) === 0 ? { cookie } : {};
    if (method === "POST") headers["content-type"] = "application/x-www-form-urlencoded";
    for (let n = random(3); n > 0; n--) {
      const [name, value] = pick(FIELDS);
      headers[name] = value;
    }
    const query = random(2) === 0 ? "?" + parameters() : "";
    const form = method === "POST" ? parameters() : undefined;
    const response = await server.send(pick(PATHS) + query, {
      method,
      headers,
      ...(form !== undefined && { form }),
    });
    seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
    assert.ok(
      [200, 204, 302, 303, 400, 401, 403, 404, 405, 413, 415].includes(response.status),
      `${response.status}`,
    );
    const location = response.headers.get("location");
    if (location !== null) {
      assert.match(location, /^(\/|https:\/\/app\.example\/cb\?|http:\/\/127\.0\.0\.1\/callback\?)/);
      assert.not.match(location, /^\/[/\\]/);
    }
    assert.not.match(await response.text(), /\bat \S+ \(|\.ts:\d+|<script/);
  }
  assert.equal(server.events.filter((event) => event.type === "fault"), []);
  assert.ok(seen.size >= 7, `only these statuses were reached: ${[...seen.keys()]}`);
});

/** Percent-encoded; a lone surrogate cannot be encoded and is sent as it is. */
function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text;
}

test.run();

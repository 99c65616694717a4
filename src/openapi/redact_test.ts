import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { newApi, oneOperation } from "./test_api.ts";

const test = suite("openapi/redact");

const securitySchemes = {
  token: { type: "http", scheme: "Bearer" },
  basic: { type: "http", scheme: "basic" },
  query: { type: "apiKey", in: "query", name: "key" },
};
const secured = (security: object[]) =>
  oneOperation({ security }, "/things", "get", { components: { securitySchemes } });

async function textOf(api: ReturnType<typeof newApi>): Promise<string> {
  const [first] = (await api.call("op")).content!;
  return (first as { text: string }).text;
}

test("an answer that repeats the credentials is given without them", async () => {
  const api = newApi(
    {
      document: secured([{ token: [], query: [] }]),
      credentials: { token: "secret-token-1", query: "secret&key-2" },
    },
    ({ headers, url }) =>
      Response.json({ got: headers.get("authorization"), url, twice: "secret-token-1", key: "secret&key-2" }),
  );
  const result = JSON.stringify(await api.call("op"));
  assert.not.match(result, /secret-token-1|secret&key-2|secret%26key-2/);
  assert.match(result, /\*\*\*\*/);
});

test("fixed header fields with the name of a credential are removed from answers, too", async () => {
  const headers = { "X-Api-Key": "operator-key-3", "X-Version": "version-2026-11" };
  const api = newApi(
    { document: oneOperation({}), headers },
    ({ headers }) => Response.json([headers.get("x-api-key"), headers.get("x-version")]),
  );
  const result = JSON.stringify(await api.call("op"));
  assert.not.match(result, "operator-key-3");
  assert.match(result, "version-2026-11");
});

test("header fields of an answer are given without the credentials", async () => {
  const answers = (status: number, type: string) =>
    newApi(
      { document: secured([{ query: [] }]), credentials: { query: "secret&key-2" } },
      ({ url }) =>
        new Response("[1]", {
          status,
          headers: { link: `<${url}&page=2>; rel="next"`, "content-type": `${type}; a="secret&key-2"` },
        }),
    );
  for (
    const [status, type] of [[200, "application/json"], [200, "application/pdf"], [
      400,
      "text/plain",
    ]] as const
  ) {
    const api = answers(status, type);
    const result = JSON.stringify(await api.call("op"));
    assert.not.match(result, /secret(&|%26)key-2/, `${status} ${type}`);
    if (status === 200) assert.match(result, /key=\*+&page=2/);
  }
});

test("credentials are removed from answers in every escaped form", async () => {
  const secret = `k/+"\\<&'=é€😀 z-9`;
  const json = JSON.stringify(secret).slice(1, -1);
  const hex = (text: string, write: (point: string) => string): string =>
    text.replace(/[^A-Za-z0-9]/g, (unit) => write(unit.charCodeAt(0).toString(16).padStart(4, "0")));
  const html = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  const forms = [
    secret,
    json,
    json.replaceAll("/", "\\/"),
    hex(secret, (point) => `\\u${point}`),
    hex(secret, (point) => `\\u${point.toUpperCase()}`),
    html,
    html.replaceAll("'", "&#39;"),
    html.replaceAll("'", "&#x27;").replaceAll("+", "&#43;").replaceAll("é", "&#xE9;"),
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    encodeURIComponent(secret).replaceAll("%20", "+"),
    JSON.stringify(html).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)),
    encodeURIComponent(secret).replaceAll("%", "\\u0025"),
  ];
  const api = newApi(
    { document: secured([{ query: [] }]), credentials: { query: secret } },
    () =>
      new Response(forms.map((form) => `[${form}]`).join("\n"), {
        headers: { "content-type": "text/plain" },
      }),
  );
  const text = await textOf(api);
  const lines = text.split("\n");
  assert.is(lines.length, forms.length);
  lines.forEach((line, i) => assert.match(line, /^\[[\\"]*\*+[\\"]*\]$/, `${forms[i]}: ${line}`));
});

test("the password of basic authentication is removed from answers, and other text is kept", async () => {
  const text = "100%25 &amp; \\u0041 pass/word-1 pass%2Fword-1 é 😀";
  const api = newApi(
    { document: secured([{ basic: [] }]), credentials: { basic: "user:pass/word-1" } },
    () => new Response(text, { headers: { "content-type": "text/plain" } }),
  );
  assert.is(await textOf(api), `100%25 &amp; \\u0041 ${"*".repeat(11)} ${"*".repeat(13)} é 😀`);
});

test("an answer of escapes does not hold the event loop", async () => {
  const api = newApi(
    { document: secured([{ query: [] }]), credentials: { query: "secret/key-3" } },
    () => new Response("%41\\u0041&#65;".repeat(100_000), { headers: { "content-type": "text/plain" } }),
  );
  await assertLoopIsFree(async () => assert.ok(await api.call("op")));
});

test.run();

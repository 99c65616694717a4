/**
 * A run with known secrets: none of them appears in the output of the runner, in any encoding.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const test = suite("secrets");
const folder = mkdtempSync(join(tmpdir(), "conformance-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const SECRETS = {
  password: 'p"w&d<1',
  // Short, as PINs are, but not in the digits of a time.
  pin: "4!7~",
  client: "client+secret/9f8e7d=",
  session: "session-a1b2c3d4",
  code: "code-b2c3d4e5f6",
  access: "access-c3d4e5f6a7",
  refresh: "refresh-d4e5f6a7b8",
  ticket: "ticket-e5f6a7b8c9",
  key: "key-f6a7b8c9d0e1",
} as const;

/** A server that discloses its secrets everywhere and fails every vector. */
const SERVER = `
const S = ${JSON.stringify(SECRETS)};
export const fetch = async (request) => {
  const { pathname } = new URL(request.url);
  const said = await request.text();
  const cookie = { "set-cookie": "sid=" + S.session + "; Path=/; HttpOnly" };
  if (pathname === "/login" && request.method === "GET") {
    return new Response('<form method=post><input name=user><input name=pw><input type=hidden name=ticket value="' +
      S.ticket + '"><!-- known for a secret in a later response only: ' + S.code + ' --><button>Sign in</button></form>', { headers: { "content-type": "text/html" } });
  }
  if (pathname === "/login") return new Response(null, { status: 302, headers: { location: "/home", ...cookie } });
  if (pathname === "/authorize") {
    return new Response(null, { status: 302, headers: { location: "https://app.example/cb?code=" + S.code + "&state=1" } });
  }
  if (pathname === "/token") {
    return Response.json({ access_token: S.access, refresh_token: S.refresh, said, was: S.access }, { headers: cookie });
  }
  return new Response("said " + said + " " + request.headers.get("authorization"), { status: 500 });
};
export const procedures = {
  fails: () => { throw new Error("with " + S.password); },
};
`;

const code = (id: string, ...steps: readonly object[]) => ({
  id: `mine/${id}`,
  title: `It is ${id}`,
  covers: ["format#7/1"],
  steps: [
    { call: "login", with: { user: "{{users.alice}}" } },
    { call: "authorize", with: { query: { value: { redirect_uri: "https://app.example/cb" } } } },
    ...steps,
  ],
});
const exchange = {
  request: {
    url: "/token",
    headers: { authorization: "{{basic}}", "x-api-key": "{{keys.one}}" },
    form: {
      code: "{{code}}",
      code_verifier: "{{verifier}}",
      client_secret: "{{clients.web.secret}}",
      password: "{{users.alice.password}}",
    },
  },
};
const begin = {
  let: { verifier: { random: 43 }, basic: { basic: ["{{clients.web.id}}", "{{clients.web.secret}}"] } },
};

test("no secret appears in the table, JSON, JUnit, HTML or summary", async () => {
  const vectors = [
    code("status", { ...begin, ...exchange, expect: { status: 201 } }),
    code("body", { ...begin, ...exchange, expect: { json: { access_token: { $absent: true } } } }),
    code("whole", { ...begin, ...exchange, expect: { $oneOf: [{ status: 1 }, { status: 2 }] } }),
    code("same", { ...begin, ...exchange, capture: { t: { json: "/access_token" } } }, {
      request: { url: "/x", headers: { authorization: "Bearer {{t}}" }, text: "it was {{t}} and {{code}}" },
      expect: { body: "nothing" },
    }),
    code("procedure", { call: "fails" }),
    code("redirect", { request: { url: "/authorize" }, expect: { redirect: { query: { code: "other" } } } }),
  ];
  const file = { format: 2, suite: "oauth/mine", title: "Mine", count: vectors.length, vectors };
  writeFileSync(join(folder, "mine.json"), JSON.stringify(file));
  writeFileSync(join(folder, "server.mjs"), SERVER);
  writeFileSync(
    join(folder, "server.json"),
    JSON.stringify({
      name: `server --token ${SECRETS.access}`,
      features: [],
      clients: { web: { id: "web", secret: SECRETS.client } },
      users: { alice: { name: "alice", password: SECRETS.password, pin: SECRETS.pin } },
      vars: { keys: { one: SECRETS.key } },
      procedures: {
        login: {
          page: "/login",
          fields: { user: "{{user.name}}", pw: "{{user.password}}", x: "{{user.pin}}" },
        },
        authorize: { page: "/authorize", query: "{{query}}" },
      },
    }),
  );
  const reports = join(folder, "reports");
  const outputs: Record<string, string> = {};
  for (const more of [["--verbose", "--report-dir", reports], ["--json"], ["--junit"]]) {
    const { out, err } = await run(
      join(folder, "mine.json"),
      "--module",
      join(folder, "server.mjs"),
      "--seed",
      "s",
      ...more,
    );
    outputs[more[0]!] = out;
    outputs[`${more[0]} (standard error)`] = err;
  }
  for (const name of readdirSync(reports)) outputs[name] = readFileSync(join(reports, name), "utf8");
  assert.is(JSON.parse(outputs["--json"]!).summary.fail, 5, outputs["--verbose"]!);
  assert.match(outputs["--verbose"]!, /‹secret \d+›/);
  for (const [place, text] of Object.entries(outputs)) {
    for (const [name, secret] of Object.entries(SECRETS)) {
      for (const form of formsOf(secret)) {
        assert.not.ok(text.includes(form), `${name} as ${form} in ${place}`);
      }
    }
  }
});

/** A secret in every encoding that an output may use. */
function formsOf(secret: string): readonly string[] {
  const urlencoded = new URLSearchParams([["", secret]]).toString().slice(1);
  const html = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  const basic = btoa(`web:${encodeURIComponent(secret)}`);
  return [
    secret,
    urlencoded,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    html,
    btoa(secret),
    basic,
    btoa(`web:${urlencoded}`),
  ];
}

function run(...args: readonly string[]): Promise<{ out: string; err: string }> {
  const cli = fileURLToPath(new URL("cli.ts", import.meta.url));
  const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...runtime, cli, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => out += chunk);
    child.stderr.on("data", (chunk) => err += chunk);
    child.on("close", () => resolve({ out, err }));
  });
}

test.run();

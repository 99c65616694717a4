/**
 * Procedures that are programs: variables as input, captures as output, and every kind of failure.
 *
 * @module
 */
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { stopPrograms } from "./execute.ts";
import { BASE, runOne, testTarget } from "../test_run.ts";

const test = suite("procedure");

/** A program of one line. `input` is the standard input. */
function program(line: string): { exec: readonly string[] } {
  const read =
    'import process from "node:process"; let text = ""; for await (const chunk of process.stdin) text += chunk; const input = JSON.parse(text);';
  const flags = "Deno" in globalThis
    ? ["eval", "--ext=mjs"]
    : "Bun" in globalThis
    ? ["-e"]
    : ["--input-type=module", "-e"];
  return { exec: [process.execPath, ...flags, `${read} ${line}`] };
}

async function call(offer: { exec: readonly string[] }): Promise<string> {
  const target = testTarget((request) => new Response(new URL(request.url).pathname), {
    withProcedures: { go: offer },
  });
  const { outcome, reason } = await runOne(target, [
    { call: "go", with: { word: "hello" } },
    { request: { url: "/{{got}}" }, expect: { body: "/hello!" } },
  ]);
  return reason === undefined ? outcome : `${outcome}: ${reason}`;
}

test("a program receives the variables and returns captures", async () => {
  assert.is(await call(program('console.log(JSON.stringify({ got: input.word + "!" }));')), "pass");
});

test("a program that fails is setup, with its exit code", async () => {
  assert.match(await call(program("process.exit(4);")), /^setup: .*"go".* 4\b/);
});

test("a program without an object as output is setup", async () => {
  assert.match(await call(program('console.log("done");')), /^setup: .*"go".*JSON/);
});

test("a missing program is setup", async () => {
  assert.match(
    await call({ exec: ["there-is-no-such-program"] }),
    /^setup: .*"go".*there-is-no-such-program/,
  );
});

test("a program may ignore its input", async () => {
  const flags = "Deno" in globalThis ? ["eval"] : ["-e"];
  const exec = [process.execPath, ...flags, 'console.log(JSON.stringify({ got: "hello!" }))'];
  assert.is(await call({ exec }), "pass");
});

const tenSeconds = { limits: { seconds: 10, bytes: 100_000 } };

const WRONG: readonly (readonly [string, string, RegExp])[] = [
  ["hangs", "setInterval(() => {}, 1000);", /1\.5 s/],
  [
    "ignores every signal",
    'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);',
    /1\.5 s/,
  ],
  [
    "floods",
    'process.stdout.on("error", () => {}); for (;;) if (!process.stdout.write("x".repeat(65536))) ' +
    'await new Promise((go) => process.stdout.once("drain", go));',
    /1048576 bytes/,
  ],
  [
    "writes to standard error and fails",
    'console.error("no browser here"); process.exit(4);',
    /\b4\b.*no browser here/,
  ],
];

for (const [name, line, message] of WRONG) {
  test(`a program that ${name} is setup, and ended`, async () => {
    const target = testTarget(() => new Response(), {
      ...tenSeconds,
      withProcedures: { go: { ...program(line), seconds: 1.5 } },
    });
    const { outcome, reason } = await runOne(target, [{ call: "go" }]);
    assert.is(outcome, "setup");
    assert.match(reason!, message);
  });
}

test("a program receives cookies and the authorization URL, and may return cookies and a URL", async () => {
  const line =
    'console.log(JSON.stringify({ cookies: [{ name: "sid", value: input.cookies[0].value + "2" }], ' +
    'answer: "https://app.example/cb?code=c-1&url=" + encodeURIComponent(input.url) + "&was=" + input.procedure + input.page.press }));';
  const target = testTarget(
    (request) => new Response(request.headers.get("cookie"), { headers: { "set-cookie": "sid=s1; Path=/" } }),
    {
      ...tenSeconds,
      withProcedures: { authorize: { ...program(line), press: "{{label}}" } as never },
      variables: { base: BASE, endpoints: { authorization: "/authorize" }, label: "Allow" },
    },
  );
  const { outcome, reason } = await runOne(target, [
    { as: "browser", request: { url: "/" } },
    {
      call: "authorize",
      with: { query: { value: { state: "x y" } } },
      expect: {
        redirect: {
          to: "https://app.example/cb",
          query: { code: "c-1", url: `${BASE}/authorize?state=x+y`, was: "authorizeAllow" },
        },
      },
    },
    { as: "browser", request: { url: "/{{code}}" }, expect: { body: "sid=s12" } },
  ]);
  assert.equal([outcome, reason], ["pass", undefined]);
});

test("an authorization request that the server refuses is setup, unless the step expects it", async () => {
  const answers = [
    "https://app.example/cb?error=invalid_scope",
    "https://app.example/cb#error=access_denied",
  ];
  for (const answer of answers) {
    const target = testTarget((request) => new Response(new URL(request.url).pathname), {
      withProcedures: { authorize: [{ let: { answer: { value: answer } } }] },
    });
    const redeem = { request: { url: "/{{code}}" }, expect: { status: 200 } };
    const { outcome, reason } = await runOne(target, [{ call: "authorize" }, redeem]);
    assert.is(outcome, "setup");
    assert.match(reason!, /"(invalid_scope|access_denied)"/);
    const expect = { redirect: { to: "https://app.example/cb" } };
    assert.is((await runOne(target, [{ call: "authorize", expect }])).outcome, "pass");
  }
});

test("a program that stays is started once, and again after it has exited", async () => {
  const loop =
    'import { createInterface } from "node:readline"; import process from "node:process"; let count = 0; ' +
    "for await (const line of createInterface({ input: process.stdin })) { const input = JSON.parse(line); count++; " +
    'if (input.word === "leave") process.exit(5); ' +
    'console.log(JSON.stringify(input.word === "fail" ? { error: "I cannot" } : { got: input.word + count })); }';
  const { exec } = program("");
  const target = testTarget((request) => new Response(new URL(request.url).pathname), {
    ...tenSeconds,
    withProcedures: { go: { exec: [...exec.slice(0, -1), loop], stays: true } },
  });
  const say = (word: string, got: string) => [
    { call: "go", with: { word } },
    { request: { url: "/{{got}}" }, expect: { body: `/${got}` } },
  ];
  assert.is((await runOne(target, [...say("a", "a1"), ...say("b", "b2")])).outcome, "pass");
  const failed = await runOne(target, [{ call: "go", with: { word: "fail" } }]);
  assert.match(failed.reason!, /I cannot/);
  const left = await runOne(target, [{ call: "go", with: { word: "leave" } }]);
  assert.match(left.reason!, /\b5\b/);
  assert.is((await runOne(target, say("c", "c1"))).outcome, "pass");
  await stopPrograms();
});

test.run();

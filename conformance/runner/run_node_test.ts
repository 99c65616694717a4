/**
 * Runs against targets in this process: outcomes, procedures, cookies, the clock, simultaneous requests,
 * streams, and faulty handlers.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runAll } from "./run.ts";
import { runOne, testTarget, vectorOf } from "./test_run.ts";
import type { JsonObject, Step } from "./vector/vector_file.ts";

const test = suite("run");

const right = testTarget(() => Response.json({ ok: true }));
const get = { request: { url: "/" } };

test("a step whose expectation is met passes", async () => {
  const { outcome, exchanges } = await runOne(right, [{ ...get, expect: { json: { ok: true } } }]);
  assert.is(outcome, "pass");
  assert.is(exchanges.length, 1);
});

test("a failure names the place, the expected and the actual value", async () => {
  const { outcome, reason, step } = await runOne(right, [{
    ...get,
    title: "ask",
    expect: { json: { ok: false } },
  }]);
  assert.equal([outcome, step, reason], ["fail", "ask", "json.ok: expected false, got true"]);
});

test("the outcome of a failure depends on the level of its requirement", async () => {
  const wrong = [{ ...get, expect: { status: 500 } }];
  assert.is((await runOne(right, wrong, { strength: "SHOULD" })).outcome, "warn");
  assert.is((await runOne(right, wrong, { strength: "MAY" })).outcome, "observe");
  assert.is((await runOne(right, [get], { before: wrong })).outcome, "setup");
});

test("procedures: steps and functions; their failures are setup", async () => {
  const target = testTarget(() => Response.json({ code: "c" }), {
    withProcedures: {
      steps: [{ ...get, capture: { code: { json: "/code" } } }],
      function: ({ given }) => ({ got: `${given}!` }),
      throws: () => Promise.reject(new Error("no browser")),
      hangs: [{ ...get, expect: { status: 418 } }],
    },
  });
  const good = await runOne(target, [
    { call: "steps" },
    { call: "function", with: { given: "{{code}}" } },
    { let: { wanted: "{{got}}" }, ...get, expect: { json: { code: { $differsFrom: "wanted" } } } },
  ]);
  assert.is(good.outcome, "pass");
  const { outcome, reason } = await runOne(target, [{ call: "throws" }]);
  assert.is(outcome, "setup");
  assert.match(reason!, /"throws".*no browser/);
  assert.is((await runOne(target, [{ call: "hangs" }])).outcome, "setup");
});

test("a step of a procedure may depend on the response before it", async () => {
  let asked = 0;
  const target = testTarget(
    () => new Response(null, { status: ++asked === 1 ? 302 : 200, headers: { location: "/x" } }),
    {
      withProcedures: {
        go: [get, { when: { status: 200 }, ...get }, { when: { status: [301, 302] }, ...get }],
      },
    },
  );
  assert.is((await runOne(target, [{ call: "go", expect: { status: 200 } }])).outcome, "pass");
  assert.is(asked, 2);
});

test("cookies are kept in a jar by name, by path, until they are deleted", async () => {
  const target = testTarget((request) => {
    const { pathname } = new URL(request.url);
    const headers = new Headers();
    if (pathname === "/set") headers.append("set-cookie", "a=1; Path=/");
    if (pathname === "/set") headers.append("set-cookie", "b=2; Path=/only");
    if (pathname === "/drop") headers.append("set-cookie", "a=; Path=/; Max-Age=0");
    return new Response(request.headers.get("cookie") ?? "none", { headers });
  });
  const step = (url: string, body: string, as?: string) => ({
    ...(as !== undefined && { as }),
    request: { url },
    expect: { body },
  });
  const { outcome, reason } = await runOne(target, [
    step("/set", "none", "browser"),
    step("/", "a=1", "browser"),
    step("/only/x", "b=2; a=1", "browser"),
    step("/", "none", "other"),
    step("/", "none"),
    step("/drop", "a=1", "browser"),
  ], {});
  assert.equal([outcome, reason], ["pass", undefined]);
  assert.is(
    (await runOne(target, [step("/set", "none", "b"), step("/drop", "a=1", "b"), step("/", "none", "b")]))
      .outcome,
    "pass",
  );
});

test("a step may follow redirects, with its cookies, within the target", async () => {
  const target = testTarget((request) => {
    const { pathname, search } = new URL(request.url);
    const hop = (status: number, location: string) => new Response(null, { status, headers: { location } });
    if (pathname === "/sent" && request.method === "POST") return hop(303, "/set");
    if (pathname === "/set") {
      return new Response(null, {
        status: 302,
        headers: { location: "page?a=1", "set-cookie": "a=1; Path=/" },
      });
    }
    if (pathname === "/page") return Response.json({ search, cookie: request.headers.get("cookie") });
    if (pathname === "/out") return hop(302, "/again");
    if (pathname === "/again") return hop(302, "https://app.example/cb?code=c");
    return hop(pathname === "/kept" ? 307 : 302, "/round");
  });
  const asked = (url: string, expect: JsonObject): Step => ({
    as: "browser",
    follow: true,
    request: { url },
    expect,
  });
  const { outcome, reason } = await runOne(target, [
    {
      ...asked("/sent", {
        status: 200,
        url: { $endsWith: "/page?a=1" },
        json: { search: "?a=1", cookie: "a=1" },
      }),
      request: { url: "/sent", form: { a: "b" } },
    },
    asked("/out", { status: 302, redirect: { to: "https://app.example/cb", query: { code: "c" } } }),
    asked("/kept", { status: 307 }),
    asked("/round", { status: 302 }),
    { request: { url: "/out" }, expect: { redirect: { to: { $endsWith: "/again" } } } },
  ]);
  assert.equal([outcome, reason], ["pass", undefined]);
});

test("simultaneous copies are counted by a tally, and captures read the first row", async () => {
  let taken = false;
  const target = testTarget(async () => {
    await Promise.resolve();
    if (taken) return Response.json({ error: "invalid_grant" }, { status: 400 });
    taken = true;
    return Response.json({ access_token: "t1" });
  });
  const tally = [{ count: 1, status: 200 }, { count: 7, status: 400, json: { error: "invalid_grant" } }];
  const { outcome } = await runOne(target, [
    { ...get, parallel: 8, expect: { tally }, capture: { token: { json: "/access_token" } } },
    { ...get, let: { t: "{{token}}" }, expect: { json: { access_token: { $absent: true } } } },
  ]);
  assert.is(outcome, "pass");
  taken = false;
  const wrong = await runOne(target, [{
    ...get,
    parallel: 3,
    expect: { tally: [{ count: 2, status: 200 }, { count: 1, status: 400 }] },
  }]);
  assert.is(wrong.outcome, "fail");
  assert.match(wrong.reason!, /row 1: .*2.*3.*1$/);
});

test("copies have numbers, and different requests may be simultaneous", async () => {
  const seen = new Set<string>();
  const target = testTarget((request) => {
    seen.add(new URL(request.url).pathname);
    return new Response();
  });
  await runOne(target, [{ request: { url: "/{{copy}}" }, parallel: 3 }]);
  await runOne(target, [{ parallel: [{ url: "/a" }, { url: "/b" }] }]);
  assert.equal([...seen].sort(), ["/0", "/1", "/2", "/a", "/b"]);
});

test("the clock: a procedure of the target, else real waiting if allowed, else skipped", async () => {
  let passed = 0;
  const target = testTarget(() => Response.json({ passed }), {
    withProcedures: { advance: ({ seconds }) => void (passed += Number(seconds)) },
  });
  const steps = [{ advance: 60 }, { ...get, expect: { json: { passed: 60 } } }];
  assert.is((await runOne(target, steps)).outcome, "pass");
  const { outcome, reason } = await runOne(right, [{ advance: 60 }]);
  assert.is(outcome, "skip");
  assert.match(reason!, /"clock"/);
  assert.is((await runOne(right, [{ advance: 0.01 }, get], { maxWaitSeconds: 1 })).outcome, "pass");
});

test("vectors that move the clock or disturb others run last, each after a reset", async () => {
  const order: string[] = [];
  const target = testTarget((request) => {
    order.push(new URL(request.url).pathname);
    return new Response();
  }, { withProcedures: { reset: () => void order.push("reset"), advance: () => {} } });
  const at = (id: string, ...before: object[]) =>
    vectorOf([...before, { request: { url: `/${id}` } }], { id });
  const alone = vectorOf([{ request: { url: "/alone" } }], { id: "alone", alone: true });
  const results = await runAll([at("clock", { advance: 1 }), alone, at("plain")], {
    target,
    seed: "",
    maxWaitSeconds: 0,
  });
  assert.equal(order, ["/plain", "reset", "/clock", "reset", "/alone", "reset"]);
  assert.equal(results.map(({ name }) => name), ["oauth/test/clock", "oauth/test/alone", "oauth/test/plain"]);
});

test("a stream stays open, is read until an event, and is closed", async () => {
  let left = false;
  const target = testTarget(() => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        controller.enqueue(new TextEncoder().encode(`id: ${++sent}\ndata: {"n":${sent}}\n\n`));
      },
      cancel: () => void (left = true),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const { outcome, reason } = await runOne(target, [
    { ...get, stream: "feed", expect: { status: 200 } },
    { read: "feed", until: { json: { n: 2 } }, expect: { events: [{ id: "1" }, { id: "2" }] } },
    { read: "feed", until: { json: { n: 3 } }, expect: { events: [{ id: "3" }] } },
    { close: "feed" },
  ]);
  assert.equal([outcome, reason], ["pass", undefined]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(left);
  const until = await runOne(target, [{
    ...get,
    until: { id: "2" },
    expect: { events: [{ id: "1" }, { id: "2" }] },
  }]);
  assert.equal([until.outcome, until.reason], ["pass", undefined]);
});

test("messages over HTTP: JSON, event streams, silence", async () => {
  const target = testTarget(async (request) => {
    const { id, method } = await request.json();
    if (id === undefined) return new Response(null, { status: 202 });
    const text = JSON.stringify({ jsonrpc: "2.0", id, result: method });
    if (method !== "stream") return new Response(text, { headers: { "content-type": "application/json" } });
    const data = `data: {"jsonrpc":"2.0","method":"progress"}\n\ndata: ${text}\n\n`;
    // The stream stays open after the response.
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(data)),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const { outcome, reason } = await runOne(target, [{
    send: [{ jsonrpc: "2.0", method: "notice" }, { jsonrpc: "2.0", id: 1, method: "stream" }, {
      jsonrpc: "2.0",
      id: "two",
      method: "plain",
    }],
    expect: {
      messages: [{ method: "progress" }, { id: 1, result: "stream" }, { id: "two", result: "plain" }],
    },
  }]);
  assert.equal([outcome, reason], ["pass", undefined]);
});

const endless = () =>
  new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(10_000)) });

const WRONGS: Readonly<Record<string, readonly [() => Response | Promise<Response>, RegExp]>> = {
  "never answers": [() => new Promise(() => {}), /hung/],
  "never ends its body": [() => new Response(new ReadableStream({})), /hung/],
  "floods": [() => new Response(endless()), /flooded/],
  "throws": [() => Promise.reject(new Error("boom")), /closed.*boom/],
  "returns a string": [() => "hello" as never, /\(garbled\).*"hello"/],
  "returns undefined": [() => undefined as never, /\(garbled\)/],
  "returns an object like a Response": [() => ({ status: 200 }) as never, /\(garbled\)/],
  "fails within its body": [
    () => new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) })),
    /closed.*gone/,
  ],
};

for (const [name, [fetch, reason]] of Object.entries(WRONGS)) {
  // What is no HTTP response says nothing about the rule.
  const outcome = reason.source.includes("garbled") ? "setup" : "fail";
  test(`a handler that ${name}: ${outcome}`, async () => {
    const result = await runOne(testTarget(fetch), [{ ...get, expect: { status: 200 } }]);
    assert.is(result.outcome, outcome);
    assert.match(result.reason!, reason);
  });
}

test("an expectation may name how the exchange fails", async () => {
  const target = testTarget(() => Promise.reject(new Error("boom")));
  const oneOf = { $oneOf: [{ status: 413 }, { broken: "closed" }] };
  assert.is((await runOne(target, [{ ...get, expect: oneOf }])).outcome, "pass");
  assert.is((await runOne(target, [{ ...get, expect: { broken: "hung" } }])).outcome, "fail");
});

test("a target that no longer responds is given up", async () => {
  let asked = 0;
  const target = testTarget(() => {
    asked++;
    return new Promise(() => {});
  }, { limits: { seconds: 0.02, bytes: 1000 } });
  const all = Array.from(
    { length: 60 },
    (_, n) => vectorOf([{ ...get, expect: { status: 200 } }], { id: `n${n}` }),
  );
  const results = await runAll(all, { target, seed: "", maxWaitSeconds: 0 });
  assert.ok(asked < 20, `${asked}`);
  assert.is(results.length, 60);
  assert.equal([results.at(-1)!.outcome, results.at(-1)!.isUnreachable], ["setup", true]);
});

test("a target that ignores the requests of one file is tested with those of the others", async () => {
  const target = testTarget(({ url }) => url.endsWith("/a") ? new Promise(() => {}) : new Response(), {
    limits: { seconds: 0.1, bytes: 1000 },
  });
  const all = ["a", "b"].flatMap((name) =>
    Array.from({ length: 20 }, (_, n) => {
      const step = { request: { url: `/${name}` }, expect: { status: 200 } };
      const loaded = vectorOf([step], { id: `${name}${n}` });
      return { ...loaded, file: { ...loaded.file, suite: `oauth/${name}` } };
    })
  );
  const results = await runAll(all, { target, seed: "", maxWaitSeconds: 0 });
  const outcomes = results.map(({ outcome }) => outcome);
  assert.equal(outcomes, [...Array(20).fill("fail"), ...Array(20).fill("pass")]);
});

test("faults of the kit are errors: unknown variables, foreign origins, unopened streams", async () => {
  for (
    const step of [
      { request: { url: "{{unknown}}" } },
      { request: { url: "https://elsewhere.example/" } },
      { read: "nothing" },
      { end: true as const },
      { answer: { status: 200 } },
    ]
  ) {
    const target = { ...right, features: new Set(["http", "stdio"]) };
    assert.is((await runOne(target, [step])).outcome, "error", JSON.stringify(step));
  }
});

test("the same seed gives the same values, another seed gives different ones", async () => {
  const sent: string[] = [];
  const target = testTarget((request) => {
    sent.push(new URL(request.url).pathname);
    return new Response();
  });
  const vector = vectorOf([{ let: { x: { random: 20 } }, request: { url: "/{{x}}" } }]);
  for (const seed of ["a", "a", "b"]) await runAll([vector], { target, seed, maxWaitSeconds: 0 });
  assert.is(sent[0], sent[1]);
  assert.is.not(sent[0], sent[2]);
});

test.run();

/**
 * No secret that passed between the kit and the server in a whole run is in a log line, the audit trail, the metrics, a span,
 * what a failure wrote, or the body of a 5xx.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { replayWith, targetFile } from "./test_replay.ts";
import { addNamedSecrets, findLeaks, findSecrets, findServerErrors, startRecorder } from "./test_secrets.ts";

const test = suite("secrets in what Trivet writes");

/** Leaks of one place in the message of a failure. */
const MAX_SHOWN = 3;

const control = (name: string) => [{
  request: { url: `/control/${name}`, json: name === "advance" ? { seconds: "{{seconds}}" } : {} },
  expect: { status: 204 },
}];

const { vars } = JSON.parse(readFileSync(targetFile("trivet.json"), "utf8"));

/** How many secrets a run has at least, by the name of their place. */
const MIN_FOUND = {
  code: 100,
  access_token: 200,
  refresh_token: 50,
  authorization: 100,
  cookie: 50,
  transaction: 50,
  device_code: 10,
  user_code: 5,
  client_assertion: 5,
  dpop: 10,
  "mcp-session-id": 20,
  password: 2,
  secret: 8,
  key: 4,
} as const;

test("a whole run of the kit", async () => {
  const recorder = await startRecorder();
  const child = spawn(process.execPath, [targetFile("trivet_observed.ts"), recorder.url], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => printed += chunk);
  try {
    const [url] = await once(createInterface({ input: child.stdout }), "line");
    recorder.connectTo(Number(new URL(url).port));
    const report = await replayWith(["oauth", "jsonrpc", "mcp", "skills"], "trivet.json", {
      base: recorder.url,
      procedures: { advance: control("advance"), reset: control("reset") },
      limits: { seconds: 60 },
    });
    const ran = report.vectors.filter(({ outcome }) => outcome === "pass").length;
    assert.ok(ran > 1000, `${ran} vectors passed`);

    // Every service with a store that throws, and secrets in the request.
    await fetch(`${url}/control/fail`);
    const secret = "trivet_at_secret-of-a-failure-0123456789";
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      username: "alice",
      password: secret,
      token: secret,
    });
    const { id, secret: clientSecret } = vars.clients.service;
    const authorization = `Bearer ${secret}`;
    const failing: readonly [string, RequestInit][] = [
      ["/login", { method: "POST", body: form }],
      ["/oauth/token", {
        method: "POST",
        body: form,
        headers: { authorization: `Basic ${btoa(`${id}:${clientSecret}`)}` },
      }],
      ["/api/user", { headers: { authorization } }],
      ["/mcp", {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: secret } }),
      }],
      ["/v1/skills", { headers: { "x-api-key": secret } }],
    ];
    for (const [path, init] of failing) {
      const response = await fetch(recorder.url + path, init);
      await response.text();
      assert.ok(response.status >= 500, `${path}: ${response.status}`);
    }

    const texts = recorder.texts();
    const secrets = findSecrets(texts);
    addNamedSecrets(secrets, vars);
    const counts: Record<string, number> = {};
    for (const name of secrets.values()) counts[name] = (counts[name] ?? 0) + 1;
    for (const [name, min] of Object.entries(MIN_FOUND)) {
      assert.ok((counts[name] ?? 0) >= min, `found ${counts[name]} of ${name}, at least ${min} expected`);
    }

    const written = await (await fetch(`${url}/control/written`)).json();
    const errors = findServerErrors(texts);
    const places: Record<string, string> = {
      output: printed,
      audit: written.audit,
      metrics: written.metrics,
      spans: JSON.stringify([written.spans, written.measured]),
      errors: errors.join("\n"),
    };
    assert.match(printed, '"event":"fault"');
    assert.match(printed, '"event":"request"');
    assert.match(written.audit, '"type":"token_issued"');
    assert.match(written.metrics, "trivet_tokens_issued_total{");
    assert.ok(written.spans.length > 1000);
    assert.ok(errors.length >= failing.length);
    const leaks = Object.entries(places).flatMap(([place, text]) =>
      findLeaks(text, secrets).slice(0, MAX_SHOWN).map((leak) => `${place}: ${leak}`)
    );
    assert.equal(leaks, []);
  } finally {
    child.kill();
    recorder.close();
  }
});

test("a secret in a text is found, as it is and encoded", () => {
  const secrets = findSecrets([
    "POST /oauth/token HTTP/1.1\r\nAuthorization: Basic d2ViOm9kZCUzQSsxMDAlMjUrbW9yZQ==\r\n\r\ncode=trivet_ac_1&x=y",
    'HTTP/1.1 200 OK\r\n\r\n{"access_token":"trivet_at_2/3","token_type":"Bearer"}',
  ]);
  for (const text of ["a trivet_ac_1 b", "?x=trivet_at_2%2F3", "the password odd: 100% more"]) {
    assert.is(findLeaks(text, secrets).length, 1, text);
  }
  assert.equal(findLeaks("code, access_token, Basic", secrets), []);
});

test.run();

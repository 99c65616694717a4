import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../events.ts";
import { createLog, describeEvent, describeEventJson, type LogOptions } from "./log.ts";

const test = suite("observability/log");

function newLog(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({
    now: () => Date.UTC(2026, 10, 30, 12),
    write: (line) => lines.push(line),
    ...options,
  });
  return { log, lines, last: () => JSON.parse(lines.at(-1)!) as Record<string, unknown> };
}
const failed: TrivetEvent = {
  type: "login_failed",
  username: "hunter2 typed in the wrong field",
  ip: "192.0.2.1",
};

test("an event is one JSON object with time, level, name, members and the request", () => {
  const { log, last } = newLog();
  log.event({ type: "token_issued", grant_type: "refresh_token", client: "app", user: "user_1" }, "r-1");
  assert.equal(last(), {
    time: "2026-11-30T12:00:00.000Z",
    level: "info",
    event: "token_issued",
    grant_type: "refresh_token",
    client: "app",
    user: "user_1",
    request: "r-1",
  });
});

test("what was typed as a user name is in no line, because it may be a password", () => {
  for (const format of ["json", "text"] as const) {
    const { log, lines } = newLog({ format });
    log.event(failed);
    assert.is(lines.length, 1);
    assert.not.match(lines[0]!, "hunter2");
  }
});

test("an error has its message and those of its causes, and no stack trace", () => {
  const { log, last, lines } = newLog();
  const error = new TypeError("broken", { cause: new Error("no connection") });
  log.event({ type: "fault", where: "oauth", error });
  assert.is(last()["error"], "TypeError: broken; caused by Error: no connection");
  assert.is(last()["level"], "error");
  assert.not.match(lines[0]!, "log_test.ts");
});

test("a line stays one line, without control characters, whatever a stranger sends", () => {
  const reason = 'a\nb\r\u001b[31m\u2028\u0085\u202e"end';
  for (const format of ["json", "text"] as const) {
    const { log, lines } = newLog({ format });
    log.event({ type: "client_refused", client: "x y", reason });
    // deno-lint-ignore no-control-regex
    assert.not.match(lines[0]!, /[\u0000-\u001f\u0085\u2028]/);
    if (format === "text") assert.not.match(lines[0]!, "\u202e");
    else assert.is(JSON.parse(lines[0]!).reason, reason);
  }
});

test("the JSON of an event has the members that describeEvent names", () => {
  const events: readonly TrivetEvent[] = [
    { type: "login_failed", username: "typed", user: 'a"b\\c\u2028', ip: undefined },
    { type: "tool_called", name: "x".repeat(600), principal: undefined, failed: false },
    { type: "recovery_code_used", user: "u", left: NaN },
    { type: "fault", where: "mcp", error: new Error("no") },
    { type: "passkey_refused" },
  ];
  for (const event of events) {
    assert.equal(JSON.parse(describeEventJson(event)), JSON.parse(JSON.stringify(describeEvent(event))));
  }
});

test("long values are cut", () => {
  const { log, last } = newLog();
  log.event({ type: "client_refused", client: "c".repeat(10_000), reason: "" });
  assert.is((last()["client"] as string).length, 500);
});

test("no line has half of a surrogate pair, which strict JSON parsers refuse", () => {
  const { log, last } = newLog();
  for (const client of ["a".repeat(498) + "\u{1f600}".repeat(2), "a\ud83d", "\ude00b"]) {
    log.event({ type: "client_refused", client, reason: "" });
    assert.ok((last()["client"] as string).isWellFormed(), client);
    log.line("info", "upstream_stderr", { line: client.slice(0, 499) });
    assert.ok((last()["line"] as string).isWellFormed(), client);
  }
});

test("lines below the level are not written; requests have a level of their own, failures are errors", () => {
  const outcome = { id: "r", method: "GET", path: "/", milliseconds: 1.26 };
  const written = (options: Partial<LogOptions>): unknown[] => {
    const { log, lines } = newLog(options);
    log.request({ ...outcome, status: 200 });
    log.request({ ...outcome, status: 503 });
    log.event(failed);
    log.event({ type: "logged_out", user: "u" });
    return lines.map((line) => {
      const { level, event, status } = JSON.parse(line);
      return [level, status ?? event].join(" ");
    });
  };
  assert.equal(written({}), ["error 503", "warn login_failed", "info logged_out"]);
  assert.equal(written({ level: "error" }), ["error 503"]);
  assert.equal(written({ level: "debug" }), [
    "debug 200",
    "error 503",
    "warn login_failed",
    "info logged_out",
  ]);
  assert.equal(written({ requestLevel: "info" }), [
    "info 200",
    "error 503",
    "warn login_failed",
    "info logged_out",
  ]);
});

test("text has one pair for each member, quoted where it has a blank", () => {
  const { log, lines } = newLog({ format: "text" });
  log.line("info", "started", { url: "http://127.0.0.1:8787", about: "two words", none: undefined });
  assert.is(lines[0], '12:00:00.000 info  started url=http://127.0.0.1:8787 about="two words"');
});

test.run();

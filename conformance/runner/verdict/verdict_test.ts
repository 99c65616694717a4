import { suite } from "uvu";
import * as assert from "uvu/assert";
import { governs } from "./about.ts";
import { expectsRefusal } from "./expectation.ts";
import { isRefusal } from "./response.ts";

const test = suite("verdict");

test("a row about form governs its place, what is below it, and patterns that contain it", () => {
  const about = { at: "json.error", value: "invalid_grant" };
  assert.ok(governs(about, { path: "json.error", pattern: "invalid_grant" }));
  assert.ok(governs(about, { path: "json", pattern: { error: { $oneOf: ["invalid_grant"] } } }));
  assert.not(governs(about, { path: "json.error", pattern: "invalid_request" }));
  assert.not(governs(about, { path: "json.error_description", pattern: "invalid_grant" }));
});

test("a row about form governs its place in each item of a list", () => {
  const about = { at: "messages.error.code", value: -32601 };
  assert.ok(governs(about, { path: "messages.0.error.code", pattern: -32601 }));
  assert.ok(governs(about, { path: "messages.1", pattern: { error: { code: -32601 } } }));
  assert.not(governs(about, { path: "messages.0.id", pattern: -32601 }));
});

test("an error in every alternative is a refusal, as JSON or in an event", () => {
  const error = { error: { code: -32601 }, result: { $absent: true } };
  const both = [{ json: error }, { events: { $contains: { json: error } } }];
  assert.ok(expectsRefusal({ $all: [{ status: [200, 404] }, { $oneOf: both }] }));
  assert.not(expectsRefusal({ $oneOf: [...both, { status: 202 }] }));
  assert.ok(
    isRefusal({ events: [{ event: "endpoint" }, { event: "message", json: { error: { code: -32601 } } }] }),
  );
  assert.not(isRefusal({ events: [{ event: "message", json: { result: {} } }] }));
  assert.not(expectsRefusal({ events: { $contains: { json: { error: { $absent: true } } } } }));
});

test.run();

import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ExpectationFailed } from "../outcome.ts";
import { expectViews } from "./expect.ts";

const test = suite("expect");

const REFUSED = { status: 400, json: { error: "invalid_scope" } };
const NARROWED = { status: 200, json: { scope: "read" } };
const EITHER = { $oneOf: [REFUSED, NARROWED] };

async function findPlaces(
  expected: Record<string, unknown>,
  view: Record<string, unknown>,
): Promise<string[]> {
  try {
    await expectViews(expected as never, [view as never], {} as never);
    return [];
  } catch (error) {
    assert.instance(error, ExpectationFailed);
    return (error as ExpectationFailed).mismatches.map(({ path }) => path);
  }
}

test("a response is compared with the alternatives of its kind", async () => {
  assert.equal(await findPlaces(EITHER, { status: 200, json: { scope: "read write" } }), ["json.scope"]);
  assert.equal(await findPlaces(EITHER, { status: 400, json: { error: "invalid_request" } }), ["json.error"]);
});

test("a response whose kind no alternative expects is compared with the nearest of all", async () => {
  const refusals = { $oneOf: [REFUSED, { status: 401 }] };
  assert.equal(await findPlaces(refusals, { status: 200, json: {} }), ["status"]);
});

test("alternatives of equal distance are all compared, place by place", async () => {
  const codes = { $oneOf: [{ json: { error: "a", id: 1 } }, { json: { error: "b", id: 1 } }] };
  assert.equal(await findPlaces(codes, { json: { error: "c", id: 1 } }), ["json.error", "json.error"]);
});

test("alternatives inside of an expectation are those of the whole", async () => {
  const nested = { messages: [{ $oneOf: [{ result: 1 }, { error: { code: 1 } }] }] };
  assert.equal(await findPlaces(nested, { messages: [{ error: { code: 2 } }] }), ["messages.0.error.code"]);
  assert.equal(await findPlaces(nested, { messages: [{ result: 2 }] }), ["messages.0.result"]);
  const secret = { status: 400, json: { $oneOf: [{ $absent: true }, { token: { $absent: true } }] } };
  assert.equal(await findPlaces(secret, { status: 200, json: { active: false } }), ["status"]);
});

test("a list of another length differs in its length alone", async () => {
  const one = { messages: [{ id: 1 }] };
  assert.equal(await findPlaces(one, { messages: [{ id: 1 }, { id: 1 }] }), ["messages.length"]);
  assert.equal(await findPlaces(one, { messages: [] }), ["messages"]);
});

test("each part of $all has its own places", async () => {
  const both = { $all: [{ status: 200 }, { json: { id: 1 } }] };
  assert.equal(await findPlaces(both, { status: 201, json: { id: 2 } }), ["status", "json.id"]);
});

test("of several alternatives of its kind, the nearest is compared", async () => {
  const refusals = { $oneOf: [{ status: 401, body: "" }, REFUSED] };
  const view = { status: 400, json: { error: "invalid_request" }, body: "{}" };
  assert.equal(await findPlaces(refusals, view), ["json.error"]);
});

test("any alternative may match, whatever the kind of the response", async () => {
  assert.equal(
    await findPlaces({ $oneOf: [REFUSED, { body: "Bad Request" }] }, { status: 400, body: "Bad Request" }),
    [],
  );
});

test.run();

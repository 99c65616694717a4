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

test("a response whose kind no alternative expects is compared with all of them", async () => {
  const refusals = { $oneOf: [REFUSED, { status: 401 }] };
  assert.equal(await findPlaces(refusals, { status: 200, json: {} }), [""]);
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

/**
 * A response that is not JSON fails rows about messages, in every vector of JSON-RPC and MCP that expects one.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ExpectationFailed } from "../outcome.ts";
import { expectViews } from "./expect.ts";
import { asserts, type LoadedVector, loadRequirements, loadVectors } from "./load.ts";
import { judgeStep, type Verdict } from "../verdict/verdict.ts";
import type { Requirement, Step } from "./vector_file.ts";

const test = suite("responses without JSON");
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BODY = "<p>not JSON";

/** What the vector's row about messages may be about. */
const isAboutMessages = ({ about = [] }: Requirement): boolean =>
  about.some(({ at, value }) => value === undefined && /^messages\.length$|\.jsonrpc$/.test(at));
const MESSAGE: Requirement = {
  id: "messages",
  level: "MUST",
  text: "",
  about: [{ at: "json.jsonrpc" }, { at: "messages.jsonrpc" }, { at: "events.json.jsonrpc" }],
};

async function judge({ rows, vector }: LoadedVector, step: Step): Promise<Verdict | undefined> {
  const messages = step.send ? { messages: step.send.map(() => ({ unparsable: BODY })) } : {};
  const headers = { "content-type": "text/html" };
  const view = { url: "http://server.example/", status: 200, headers, cookies: {}, body: BODY, ...messages };
  try {
    await expectViews(step.expect, [view], {});
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpectationFailed)) throw error;
    return judgeStep(error, rows, step.covers, vector.flags ?? []);
  }
}

/** Steps that only a message meets, and that may fail every row of their vector. */
function isAsked({ rows }: LoadedVector, { send, request, covers, expect }: Step): boolean {
  const { $oneOf, tally, distinct, messages } = expect ?? {};
  const alternatives = Array.isArray($oneOf) ? $oneOf : [expect];
  return (send?.length === 1 || request !== undefined) && covers === undefined &&
    rows.some(isAboutMessages) &&
    alternatives.every((each) => asserts({ expect: each }, MESSAGE)) && tally === undefined &&
    distinct === undefined &&
    // A line that is not JSON shows what this vector is about: an id that breaks lines.
    !JSON.stringify(messages ?? null).includes("unparsable");
}

for (const [name, least] of [["jsonrpc", 80], ["mcp", 250]] as const) {
  test(`${name}: it fails a row about messages, and no other`, async () => {
    let count = 0;
    const wrong: string[] = [];
    for (const each of loadVectors(ROOT, [name], loadRequirements(ROOT))) {
      for (const step of each.vector.steps.filter((step) => isAsked(each, step))) {
        const verdict = await judge(each, step);
        if (!verdict) continue;
        count++;
        const about = each.rows.filter(isAboutMessages).map(({ id }) => id);
        if (!verdict.failed.every((id) => about.includes(id)) || verdict.failed.length === 0) {
          wrong.push(`${each.name}: ${verdict.failed}`);
        }
        if (verdict.harm.some((flag) => flag !== "interop")) wrong.push(`${each.name}: harm ${verdict.harm}`);
      }
    }
    assert.equal(wrong, []);
    assert.ok(count >= least, `${count} steps`);
  });
}

test.run();

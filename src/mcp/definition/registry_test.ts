import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Definition } from "./definition.ts";
import { group } from "./group.ts";
import { call, newServer } from "../test_server.ts";

const test = suite("mcp/registry");

const run = () => "x";
for (
  const wrong of [
    "tool",
    { name: "a", run },
    { kind: "tool", run },
    { kind: "tool", name: 7, run },
    { kind: "tool", name: ["a"], run },
    { kind: "tool", name: "a" },
    { kind: "prompt", get: run },
    { kind: "prompt", name: null, get: run },
    { kind: "prompt", name: "a" },
    { kind: "prompt", name: "a", get: run, arguments: [{}] },
    { kind: "prompt", name: "a", get: run, arguments: [{ name: "b" }, { name: "b" }] },
    { kind: "resource", name: "a", read: run },
    { kind: "resource", uri: "test://a", read: run },
    { kind: "resource", uri: "test://a", name: "", read: run },
    { kind: "resource", uri: "test://a", name: "a" },
    { kind: "resource", uri: "test://a", name: "a", read: run, ttl: 0.5 },
    { kind: "resource", uri: "test://a", name: "a", read: run, ttl: NaN },
    { kind: "resource_template", name: "a", read: run },
    { kind: "resource_template", uriTemplate: "test://{a}", read: run },
    { kind: "resource_template", uriTemplate: "test://{a}", name: "a" },
  ]
) {
  test(`an invalid definition is refused at start: ${JSON.stringify(wrong)}`, () => {
    const definition = wrong as unknown as Definition;
    for (const definitions of [[definition], group({ prefix: "its_", middleware: [] }, [definition])]) {
      assert.throws(() => newServer({ definitions }), (error: Error) => error instanceof TypeError);
    }
  });
}

test("a definition that was not made by a function of Trivet is named", () => {
  const circle: Record<string, unknown> = { name: "circle", run };
  circle.self = circle;
  assert.throws(() => newServer({ definitions: [circle as unknown as Definition] }), /but got circle/);
});

test("a tool without an input schema refuses arguments", async () => {
  const definitions = [{ kind: "tool", name: "a", description: "d", run } as const];
  const { post } = newServer({ definitions });
  assert.not.ok("isError" in (await post(call("a"))).body.result);
  assert.not.ok("isError" in (await post(call("a", {}))).body.result);
  assert.is((await post(call("a", { b: 1 }))).body.result.isError, true);
});

test.run();

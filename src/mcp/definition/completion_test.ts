import { suite } from "uvu";
import * as assert from "uvu/assert";
import { prompt, resourceTemplate } from "./define.ts";
import { modern, session } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/completion");
const cities: Readonly<Record<string, readonly string[]>> = { de: ["Berlin", "Bonn"], fr: ["Paris"] };
const { server } = newServer({
  definitions: [
    prompt({
      name: "weather",
      arguments: [
        { name: "country", complete: (value) => ["de", "fr"].filter((each) => each.startsWith(value)) },
        {
          name: "city",
          complete: (value, { arguments: { country = "" } }) =>
            (cities[country] ?? []).filter((each) => each.startsWith(value)),
        },
        { name: "free" },
      ],
      get: () => "x",
    }),
    resourceTemplate({
      uriTemplate: "test://{kind}/{id}",
      name: "thing",
      complete: { id: () => Array.from({ length: 250 }, (_, i) => String(i)) },
      read: () => "x",
    }),
    resourceTemplate({
      uriTemplate: "some://{part}",
      name: "some",
      complete: {
        part: (value) => ({ values: ["a"], ...(value === "total" && { total: 7, hasMore: true }) }),
      },
      read: () => "x",
    }),
    prompt({
      name: "hidden",
      scopes: ["read"],
      arguments: [{ name: "x", complete: () => ["y"] }],
      get: () => "x",
    }),
  ],
});
const PROMPT = { type: "ref/prompt", name: "weather" };
const TEMPLATE = { type: "ref/resource", uri: "test://{kind}/{id}" };
const complete = async (params: Record<string, unknown>, headers = {}) =>
  (await modern(server, "completion/complete", params, { headers })).answer;

test("the completion depends on the typed text and the other arguments", async () => {
  const argument = { name: "country", value: "d" };
  assert.equal((await complete({ ref: PROMPT, argument })).result.completion, {
    values: ["de"],
    total: 1,
    hasMore: false,
  });
  const context = { arguments: { country: "de" } };
  const city = await complete({ ref: PROMPT, argument: { name: "city", value: "Bo" }, context });
  assert.equal(city.result.completion.values, ["Bonn"]);
});

test("a completion has at most 100 values, and the total", async () => {
  const { completion } = (await complete({ ref: TEMPLATE, argument: { name: "id", value: "" } })).result;
  assert.is(completion.values.length, 100);
  assert.is(completion.total, 250);
  assert.is(completion.hasMore, true);
});

test("a completion of some of the values says what is known of the others", async () => {
  const some = async (value: string) =>
    (await complete({
      ref: { type: "ref/resource", uri: "some://{part}" },
      argument: { name: "part", value },
    }))
      .result.completion;
  assert.equal(await some("total"), { values: ["a"], total: 7, hasMore: true });
  assert.equal(await some(""), { values: ["a"] });
});

test("an argument without a completion function has no values", async () => {
  const empty = { values: [], total: 0, hasMore: false };
  assert.equal(
    (await complete({ ref: PROMPT, argument: { name: "free", value: "" } })).result.completion,
    empty,
  );
  assert.equal(
    (await complete({ ref: TEMPLATE, argument: { name: "kind", value: "" } })).result.completion,
    empty,
  );
});

for (
  const [what, params] of [
    ["no ref", { argument: { name: "country", value: "" } }],
    ["no argument", { ref: PROMPT }],
    ["a ref of another type", { ref: { type: "ref/tool", name: "x" }, argument: { name: "x", value: "" } }],
    ["an unknown prompt", { ref: { type: "ref/prompt", name: "x" }, argument: { name: "x", value: "" } }],
    ["an unknown template", {
      ref: { type: "ref/resource", uri: "test://x" },
      argument: { name: "x", value: "" },
    }],
    ["an unknown argument", { ref: PROMPT, argument: { name: "x", value: "" } }],
    ["an unknown variable", { ref: TEMPLATE, argument: { name: "toString", value: "" } }],
    ["a value that is not a string", { ref: PROMPT, argument: { name: "country", value: 7 } }],
    ["context arguments that are not strings", {
      ref: PROMPT,
      argument: { name: "country", value: "" },
      context: { arguments: { a: 1 } },
    }],
  ] as const
) {
  test(`${what} is refused with -32602`, async () => {
    assert.is((await complete(params)).error?.code, -32602);
  });
}

test("completion requires the scopes of the prompt", async () => {
  const params = { ref: { type: "ref/prompt", name: "hidden" }, argument: { name: "x", value: "" } };
  assert.is((await modern(server, "completion/complete", params)).status, 401);
  assert.equal((await complete(params, { authorization: "Bearer reader" })).result.completion.values, ["y"]);
});

test("the capability is declared since 2025-03-26 if a definition has completions", async () => {
  assert.equal((await session(server)).result.capabilities.completions, {});
  assert.not.ok("completions" in (await session(server, { revision: "2024-11-05" })).result.capabilities);
  const { server: plain } = newServer({ definitions: [prompt({ name: "p", get: () => "x" })] });
  assert.not.ok("completions" in (await session(plain)).result.capabilities);
  assert.is((await modern(plain, "completion/complete", {})).status, 404);
});

test("a completion function for an unknown variable is refused at start", () => {
  const define = () =>
    newServer({
      definitions: [
        resourceTemplate({
          uriTemplate: "test://{a}",
          name: "x",
          complete: { b: () => [] },
          read: () => "x",
        }),
      ],
    });
  assert.throws(
    define,
    (error: unknown) => error instanceof TypeError && error.message.includes('"complete.b"'),
  );
});

test.run();

import { suite } from "uvu";
import * as assert from "uvu/assert";
import { answerOnTerminal } from "./answer_server.ts";
import type { Asker } from "./ask.ts";
import { checkValue, parseValue } from "./field_value.ts";
import { askForm } from "./form.ts";

const test = suite("cli/mcp/form");
const { signal } = new AbortController();

/** Answers with these lines, and keeps what was shown. */
function scriptedAsker(...lines: string[]): Asker & { shown: string } {
  const asker = {
    shown: "",
    ask(question: string) {
      asker.shown += `${question}\n`;
      const line = lines.shift();
      return line === undefined ? Promise.reject(new Error("no more answers")) : Promise.resolve(line);
    },
    tell: (text: string) => void (asker.shown += `${text}\n`),
  };
  return asker;
}

const values: readonly [text: string, schema: Record<string, unknown>, value: unknown][] = [
  ["5", { type: "integer" }, 5],
  ["5", { type: "string" }, "5"],
  ["5", {}, 5],
  ["five", {}, "five"],
  ["yes", { type: "boolean" }, true],
  ["false", { type: ["boolean", "string"] }, false],
  ["null", { type: ["null", "string"] }, null],
  ['{"a":1}', { type: "object" }, { a: 1 }],
  ["1, 2", { type: "array", items: { type: "number" } }, [1, 2]],
  ['["a,b"]', { type: "array", items: { type: "string" } }, ["a,b"]],
  ["2", { enum: [1, 2] }, 2],
  ["Cats", { type: "string", enum: ["pet-1"], enumNames: ["Cats"] }, "pet-1"],
  ["b", { oneOf: [{ const: "a", title: "A" }, { const: "b" }] }, "b"],
];
for (const [text, schema, value] of values) {
  test(`"${text}" is a value of ${JSON.stringify(schema)}`, () =>
    assert.equal(parseValue(text, schema), value));
}

test("text that is no value of the type says what is expected", () => {
  for (
    const [text, schema, expected] of [
      ["x", { type: "integer" }, /whole number/],
      ["maybe", { type: "boolean" }, /true or false/],
      ["[]", { type: "object" }, /JSON/],
      ["3", { enum: ["a", "b"] }, /a, b/],
    ] as const
  ) assert.throws(() => parseValue(text, schema), expected);
});

test("a field is checked with the definitions of its document, and not where it refers to other parts", () => {
  const root = { $defs: { short: { maxLength: 2 } } };
  assert.is(checkValue("abc", { $ref: "#/$defs/short" }, root).length, 1);
  assert.equal(checkValue("ab", { $ref: "#/$defs/short" }, root), []);
  assert.equal(checkValue("abc", { $ref: "#/properties/other" }, root), []);
});

test("a form asks again for what is missing or invalid, takes defaults, and leaves optional members out", async () => {
  const schema = {
    type: "object",
    properties: {
      known: { type: "string" },
      count: { type: "integer", minimum: 1 },
      size: { type: "string", enum: ["small", "large"], default: "small" },
      colour: { type: "string", enum: ["red", "blue"] },
      note: { type: "string" },
    },
    required: ["known", "count", "colour"],
  };
  const asker = scriptedAsker("", "0", "x", "2", "", "2", "");
  const given = { known: "yes" };
  assert.equal(await askForm(schema, { asker, signal, given }), {
    known: "yes",
    count: 2,
    size: "small",
    colour: "blue",
  });
  assert.match(asker.shown, /is required/);
  assert.not.match(asker.shown, /known/);
  const short = scriptedAsker("2", "red");
  assert.equal(await askForm(schema, { asker: short, signal, given, requiredOnly: true }), {
    known: "yes",
    count: 2,
    colour: "red",
  });
});

test("a member named __proto__ is a member", async () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}');
  const answer = await askForm(schema, { asker: scriptedAsker("a"), signal });
  assert.is(JSON.stringify(answer), '{"__proto__":"a"}');
});

test("control characters of a server never reach the terminal", async () => {
  const hostile = "\u001b[2J\u009b1m\u202etxt\rover";
  const asker = scriptedAsker("y", "", "a", "y");
  const answer = answerOnTerminal(asker, hostile);
  const requestedSchema = {
    properties: {
      [hostile]: { type: "string", title: hostile, description: hostile, enum: ["a"], default: hostile },
      other: { oneOf: [{ const: "a", title: hostile }] },
    },
    required: ["other"],
  };
  await answer("elicitation/create", { message: hostile, requestedSchema }, signal);
  await answer(
    "elicitation/create",
    { mode: "url", url: `https://a.example/${hostile}`, message: hostile },
    signal,
  );
  assert.match(asker.shown, /\\u\{1b\}/);
  // deno-lint-ignore no-control-regex
  assert.not.match(asker.shown, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test("a form can be declined and cancelled, and questions never overlap", async () => {
  const asker = scriptedAsker("n", "what", "c");
  const answer = answerOnTerminal(asker, "server");
  const answers = await Promise.all([
    answer("elicitation/create", { message: "first" }, signal),
    answer("elicitation/create", { message: "second" }, signal),
  ]);
  assert.equal(answers, [{ action: "decline" }, { action: "cancel" }]);
  assert.ok(asker.shown.indexOf("Answer") < asker.shown.indexOf("second"));
});

test("an address to open is shown with its host, and one of another scheme is declined without a question", async () => {
  const asker = scriptedAsker("y");
  const answer = answerOnTerminal(asker, "server");
  const url = "https://real.example/bank.example";
  assert.equal(await answer("elicitation/create", { mode: "url", url, message: "" }, signal), {
    action: "accept",
  });
  assert.match(asker.shown, /trust real\.example:/);
  for (const url of ["javascript:alert(1)", "file:///etc/passwd", "nothing"]) {
    const declined = await answer("elicitation/create", { mode: "url", url, message: "" }, signal);
    assert.equal(declined, { action: "decline" });
  }
});

test("other requests of a server are refused", async () => {
  const answer = answerOnTerminal(scriptedAsker(), "server");
  await answer("sampling/createMessage", {}, signal).then(
    () => assert.unreachable(),
    (error) => assert.is(error.code, -32601),
  );
});

test.run();

import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Dispatcher, dispatchMessage, type Method } from "./dispatch.ts";
import { dispatchBatch, MAX_BATCH_MESSAGES } from "./batch.ts";
import { RpcError } from "./error.ts";
import { parseJsonInTurns, readMessage, writeResponse, WrittenResult } from "./message.ts";
import { parseJson } from "./parse_json.ts";
import { writeResponses } from "./server_message.ts";

const test = suite("jsonrpc");

/** The methods of the examples of the specification. */
function newDispatcher(): { dispatcher: Dispatcher<undefined>; called: string[]; faults: unknown[] } {
  const called: string[] = [];
  const faults: unknown[] = [];
  const dispatcher: Dispatcher<undefined> = {
    methods: new Map<string, Method<undefined>>([
      ["subtract", (params) => {
        const { minuend, subtrahend } = Array.isArray(params)
          ? { minuend: params[0], subtrahend: params[1] }
          : params as Record<string, number>;
        return minuend! - subtrahend!;
      }],
      ["sum", (params) => (params as number[]).reduce((a, b) => a + b, 0)],
      ["get_data", () => ["hello", 5]],
      ["update", (params) => void called.push(JSON.stringify(params))],
      ["nothing", () => undefined],
      ["written", () => new WrittenResult('{"a":[1]}')],
      ["refuse", () => {
        throw new RpcError(-32000, "No", { why: "test" });
      }],
      ["break", () => {
        throw new Error("the database password is hunter2");
      }],
    ]),
    onFault: (error) => (faults.push(error), undefined),
  };
  return { dispatcher, called, faults };
}

async function send(text: string, { dispatcher } = newDispatcher()): Promise<unknown> {
  const value = parseJson(text);
  const answer = Array.isArray(value)
    ? await dispatchBatch(dispatcher, value.map(readMessage), () => undefined)
    : await dispatchMessage(dispatcher, readMessage(value), undefined);
  if (answer === undefined) return undefined;
  const written = Array.isArray(answer)
    ? writeResponses(answer)
    : writeResponse(answer as Parameters<typeof writeResponse>[0]);
  return JSON.parse(written);
}

const error = (code: number, id: unknown) => ({ jsonrpc: "2.0", id, error: { code } });

/** The answer without error messages, since tests compare codes. */
function withoutMessages(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (name, value) => name === "message" ? undefined : value));
}

test("section 7: calls with positional and named parameters", async () => {
  const result = (value: unknown, id: unknown) => ({ jsonrpc: "2.0", id, result: value });
  assert.equal(await send('{"jsonrpc":"2.0","method":"subtract","params":[42,23],"id":1}'), result(19, 1));
  assert.equal(
    await send('{"jsonrpc":"2.0","method":"subtract","params":{"subtrahend":23,"minuend":42},"id":3}'),
    result(19, 3),
  );
});

test("section 4.1: a notification gets no response, also when its method is unknown or fails", async () => {
  const server = newDispatcher();
  assert.is(await send('{"jsonrpc":"2.0","method":"update","params":[1,2]}', server), undefined);
  assert.equal(server.called, ["[1,2]"]);
  for (const method of ["foobar", "refuse", "break"]) {
    assert.is(await send(`{"jsonrpc":"2.0","method":"${method}"}`, server), undefined);
  }
  assert.is(server.faults.length, 1);
});

test("section 5.1: an unknown method gets -32601 with the id, and the message names the method", async () => {
  const answer = await send('{"jsonrpc":"2.0","method":"foobar","id":"1"}') as { error: { message: string } };
  assert.equal(withoutMessages(answer), error(-32601, "1"));
  assert.match(answer.error.message, "foobar");
});

test("section 5.1: invalid JSON gets -32700", () => {
  for (
    const text of [
      "",
      "{",
      '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
      "undefined",
      "\u0000",
    ]
  ) {
    assert.throws(() => parseJson(text), (thrown: RpcError) => thrown.code === -32700);
  }
});

for (
  const [text, id] of [
    ["1", null],
    ["null", null],
    ['"text"', null],
    ["{}", null],
    ['{"jsonrpc":"1.0","method":"subtract","id":1}', 1],
    ['{"method":"subtract","id":1}', 1],
    ['{"jsonrpc":2.0,"method":"subtract","id":1}', 1],
    ['{"jsonrpc":"2.0","id":1}', 1],
    ['{"jsonrpc":"2.0","method":1,"params":"bar"}', null],
    ['{"jsonrpc":"2.0","method":null,"id":2}', 2],
    ['{"jsonrpc":"2.0","method":"subtract","params":"bar","id":1}', 1],
    ['{"jsonrpc":"2.0","method":"subtract","params":null,"id":1}', 1],
    ['{"jsonrpc":"2.0","method":"subtract","params":1}', null],
    ['{"jsonrpc":"2.0","method":"subtract","id":{}}', null],
    ['{"jsonrpc":"2.0","method":"subtract","id":[1]}', null],
    ['{"jsonrpc":"2.0","method":"subtract","id":true}', null],
    ['{"jsonrpc":"2.0","id":1,"result":1,"error":{}}', 1],
  ] as const
) {
  test(`section 5.1: ${text} gets -32600`, async () => {
    assert.equal(withoutMessages(await send(text)), error(-32600, id));
  });
}

test("a response from the client gets no response", async () => {
  assert.is(await send('{"jsonrpc":"2.0","id":1,"result":{}}'), undefined);
  assert.is(await send('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}'), undefined);
});

test("section 5: the response has the id of the request, also zero, negative, fractional, empty and null", async () => {
  for (const id of ["abc", "", "1", 0, -7, 1.5, 9007199254740991, null]) {
    const answer = await send(JSON.stringify({ jsonrpc: "2.0", method: "get_data", id })) as { id: unknown };
    assert.is(answer.id, id);
  }
});

test("names of members of Object.prototype have no meaning as id or method", async () => {
  assert.equal(
    withoutMessages(await send('{"jsonrpc":"2.0","method":"__proto__","id":"constructor"}')),
    error(-32601, "constructor"),
  );
  assert.equal(withoutMessages(await send('{"jsonrpc":"2.0","method":"toString","id":1}')), error(-32601, 1));
});

test("section 5: result is present also when a method returns undefined, and written results are sent unchanged", async () => {
  assert.equal(await send('{"jsonrpc":"2.0","method":"nothing","id":1}'), {
    jsonrpc: "2.0",
    id: 1,
    result: null,
  });
  assert.equal(await send('{"jsonrpc":"2.0","method":"written","id":1}'), {
    jsonrpc: "2.0",
    id: 1,
    result: { a: [1] },
  });
});

test("section 5.1: an RpcError of a method keeps code, message and data", async () => {
  assert.equal(await send('{"jsonrpc":"2.0","method":"refuse","id":1}'), {
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32000, message: "No", data: { why: "test" } },
  });
});

test("another error of a method gets -32603 without its message, and onFault receives it", async () => {
  const server = newDispatcher();
  const answer = await send('{"jsonrpc":"2.0","method":"break","id":1}', server);
  assert.equal(withoutMessages(answer), error(-32603, 1));
  assert.not.match(JSON.stringify(answer), "hunter2");
  assert.match(String(server.faults[0]), "hunter2");
});

test("section 6: an empty batch gets one error, not a list", async () => {
  assert.equal(withoutMessages(await send("[]")), error(-32600, null));
});

test("section 6: each invalid member of a batch gets its own error", async () => {
  assert.equal(withoutMessages(await send("[1]")), [error(-32600, null)]);
  assert.equal(withoutMessages(await send("[1,2,3]")), [
    error(-32600, null),
    error(-32600, null),
    error(-32600, null),
  ]);
});

test("with a separate table of notifications, a request never runs one and a notification never runs a method", async () => {
  const { dispatcher, ...rest } = newDispatcher();
  const notifications = new Map([["update", dispatcher.methods.get("update")!]]);
  const methods = {
    has: (name: string) => name !== "update" && dispatcher.methods.has(name),
    get: (name: string) => name === "update" ? undefined : dispatcher.methods.get(name),
  };
  const server = { ...rest, dispatcher: { ...dispatcher, methods, notifications } };
  assert.is(await send('{"jsonrpc":"2.0","method":"update","params":[1]}', server), undefined);
  const response = await send('{"jsonrpc":"2.0","method":"update","params":[2],"id":1}', server);
  assert.equal(withoutMessages(response), error(-32601, 1));
  assert.equal(server.called, ["[1]"]);
  assert.is(await send('{"jsonrpc":"2.0","method":"break"}', server), undefined);
  assert.equal(server.faults, [], "the method did not run");
});

test("an id that a response could not repeat gets -32600", async () => {
  for (const id of ["1e999", "-1e999", "9007199254740992", "-9007199254740993", "12345678901234567890"]) {
    assert.equal(
      withoutMessages(await send(`{"jsonrpc":"2.0","method":"get_data","id":${id}}`)),
      error(-32600, null),
    );
  }
  for (const [id, answered] of [["-0", 0], ["9007199254740991", 2 ** 53 - 1], ["1.5", 1.5]] as const) {
    assert.equal(withoutMessages(await send(`{"jsonrpc":"2.0","method":"get_data","id":${id}}`)), {
      jsonrpc: "2.0",
      id: answered,
      result: ["hello", 5],
    });
  }
});

test("JSON may be nested 512 levels deep, not counting brackets in strings", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert.ok(parseJson(nested(512)));
  const code = (text: string) => {
    try {
      return parseJson(text) && 0;
    } catch (thrown) {
      return (thrown as RpcError).code;
    }
  };
  assert.is(code(nested(513)), -32700);
  assert.is(code('{"a":'.repeat(513) + "1" + "}".repeat(513)), -32700);
  assert.is(code(nested(100_000)), -32700);
  const brackets = "[{".repeat(600);
  for (const quoted of [brackets, `"${brackets}`, `\\"${brackets}`, `\\`, `${brackets}\\`]) {
    assert.is(code(JSON.stringify([quoted, [], quoted])), 0);
    assert.is(code(`[${JSON.stringify(quoted)},${nested(512)}]`), -32700);
  }
});

test("JSON that would take too long to parse gets -32600 without being parsed", async () => {
  const list = (count: number, write: (i: number) => string) =>
    `[${Array.from({ length: count }, (_, i) => write(i)).join(",")}]`;
  const outcome = async (text: string) => {
    const codes = [];
    for (const parse of [parseJson, parseJsonInTurns]) {
      try {
        await parse(text);
        codes.push(0);
      } catch (thrown) {
        codes.push((thrown as RpcError).code);
      }
    }
    assert.is(codes[0], codes[1]);
    return codes[0];
  };
  for (
    const write of [
      (i: number) => `{"a${i}":0}`,
      () => `{"a":0}`,
      () => "[]",
      () => '""',
      (i: number) => `"${i}"`,
    ]
  ) {
    assert.is(await outcome(list(250_000, write)), -32600, write(1));
    assert.is(await outcome(list(10_000, write)), 0, write(1));
  }
  assert.is(await outcome(list(350_000, String)), 0);
  assert.is(await outcome(list(500_000, String)), -32600);
  for (
    const text of ["x".repeat(4e6), '"'.repeat(9e5), "\\".repeat(1e6), '\\"'.repeat(4e5), "[".repeat(1e6)]
  ) {
    assert.is(await outcome(JSON.stringify({ text })), 0, text.slice(0, 3));
  }
  assert.is(await outcome('"'.repeat(1e6)), -32600, "more strings than allowed");
  assert.is(await outcome(`{"a":"${"x".repeat(1e5)}`), -32700, "an unterminated string");
});

test("an id has at most 1024 characters", async () => {
  const send1 = async (id: string) =>
    withoutMessages(await send(JSON.stringify({ jsonrpc: "2.0", method: "get_data", id })));
  assert.equal(await send1("x".repeat(1025)), error(-32600, null));
  assert.equal((await send1("x".repeat(1024)) as { result: unknown }).result, ["hello", 5]);
});

test("section 7: a mixed batch gets responses for its requests and its invalid members", async () => {
  const batch = [
    { jsonrpc: "2.0", method: "sum", params: [1, 2, 4], id: "1" },
    { jsonrpc: "2.0", method: "update", params: [7] },
    { jsonrpc: "2.0", method: "subtract", params: [42, 23], id: "2" },
    { foo: "boo" },
    { jsonrpc: "2.0", method: "foo.get", params: { name: "myself" }, id: "5" },
    { jsonrpc: "2.0", method: "get_data", id: "9" },
  ];
  assert.equal(withoutMessages(await send(JSON.stringify(batch))), [
    { jsonrpc: "2.0", id: "1", result: 7 },
    { jsonrpc: "2.0", id: "2", result: 19 },
    error(-32600, null),
    error(-32601, "5"),
    { jsonrpc: "2.0", id: "9", result: ["hello", 5] },
  ]);
});

test("section 6: a batch of notifications gets no response", async () => {
  assert.is(
    await send('[{"jsonrpc":"2.0","method":"update"},{"jsonrpc":"2.0","method":"foobar"}]'),
    undefined,
  );
});

test("a batch inside a batch gets -32600", async () => {
  assert.equal(withoutMessages(await send('[[{"jsonrpc":"2.0","method":"sum","params":[1],"id":1}]]')), [
    error(-32600, null),
  ]);
});

test("a batch that is too large gets -32600, and none of its messages runs", async () => {
  const server = newDispatcher();
  const batch = Array.from({ length: MAX_BATCH_MESSAGES + 1 }, () => ({ jsonrpc: "2.0", method: "update" }));
  assert.equal(withoutMessages(await send(JSON.stringify(batch), server)), error(-32600, null));
  assert.is(server.called.length, 0);
});

test.run();

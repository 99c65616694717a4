import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { errorOf, newApi, oneOperation } from "./test_api.ts";

const test = suite("openapi/body");

test("bodies: JSON, form, multipart, text and bytes", async () => {
  const send = async (content: object, body: unknown) => {
    const api = newApi({ document: oneOperation({ requestBody: { content } }, "/things", "post") });
    await api.call("op", { body });
    const [request] = api.requests;
    const type = request!.headers.get("content-type");
    const text = await new Response(request!.body as string).text();
    return { type, text };
  };
  assert.equal(await send({ "application/json": {}, "text/plain": {} }, { a: 1 }), {
    type: "application/json",
    text: '{"a":1}',
  });
  assert.is((await send({ "*/*": {} }, [1])).type, "application/json");
  const properties = { deep: { type: "object" }, list: { type: "array" } };
  const encoding = { deep: { style: "deepObject", explode: true } };
  assert.equal(
    await send({ "application/x-www-form-urlencoded": { schema: { properties }, encoding } }, {
      deep: { a: "x&y" },
      list: [1, 2],
      other: { b: 1 },
    }),
    {
      type: "application/x-www-form-urlencoded",
      text: "deep[a]=x%26y&list=1&list=2&other=%7B%22b%22%3A1%7D",
    },
  );
  assert.equal(await send({ "text/plain": {} }, "hello"), { type: "text/plain", text: "hello" });
  assert.equal(await send({ "application/octet-stream": {} }, btoa("bytes")), {
    type: "application/octet-stream",
    text: "bytes",
  });
  const { type, text } = await send({
    "multipart/form-data": { schema: { properties: { file: { type: "string", format: "binary" } } } },
  }, { file: btoa("content"), 'a"\r\nb': "text", json: { a: 1 } });
  const boundary = type!.split("boundary=")[1];
  assert.is(
    text,
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n` +
      "Content-Type: application/octet-stream\r\n\r\ncontent\r\n" +
      `--${boundary}\r\nContent-Disposition: form-data; name="a%22%0D%0Ab"\r\n\r\ntext\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="json"\r\nContent-Type: application/json\r\n\r\n` +
      `{"a":1}\r\n--${boundary}--\r\n`,
  );
  assert.match(await errorOf(() => send({ "image/png": {} }, "!")), /base64/);
});

test("a file is sent as bytes wherever its schema describes them", async () => {
  const file = { type: "string", format: "binary" };
  const inProperty = (schema: unknown) => ({ properties: { file: schema } });
  const text = { properties: { text: { type: "string" } } };
  for (
    const schema of [
      { allOf: [inProperty(file), text] },
      { oneOf: [text, inProperty(file)] },
      // What FastAPI writes for a file that is optional.
      inProperty({ anyOf: [file, { type: "null" }] }),
      inProperty({ allOf: [{ $ref: "#/components/schemas/File" }] }),
      inProperty({ type: ["array", "null"], items: { anyOf: [file] } }),
      inProperty({ type: ["string", "null"], format: "binary" }),
      inProperty({ format: "binary" }),
    ]
  ) {
    const requestBody = { content: { "multipart/form-data": { schema } } };
    const others = {
      components: { schemas: { File: { allOf: [file, { $ref: "#/components/schemas/File" }] } } },
    };
    const api = newApi({ document: oneOperation({ requestBody }, "/things", "post", others) });
    await api.call("op", { body: { file: btoa("content"), text: "abcd" } });
    const sent = await new Response(api.requests[0]!.body as BodyInit).text();
    assert.match(sent, '; filename="file"\r\nContent-Type: application/octet-stream\r\n\r\ncontent\r\n');
    assert.match(sent, 'name="text"\r\n\r\nabcd\r\n');
    assert.match(JSON.stringify(api.tool("op").input), '"contentEncoding":"base64"');
  }
  const schema = inProperty({ oneOf: [file, { type: "string", format: "uri" }] });
  const requestBody = { content: { "multipart/form-data": { schema } } };
  const api = newApi({ document: oneOperation({ requestBody }, "/things", "post") });
  await api.call("op", { body: { file: "https://pets.example/a.png" } });
  const sent = await new Response(api.requests[0]!.body as BodyInit).text();
  assert.match(sent, 'name="file"\r\n\r\nhttps://pets.example/a.png\r\n');
});

test("base64 of 4 MB shares the event loop", async () => {
  const requestBody = { content: { "image/png": {} } };
  const api = newApi({ document: oneOperation({ requestBody }, "/things", "post") });
  const body = btoa("x".repeat(3 * 1024 * 1024));
  await assertLoopIsFree(() => api.call("op", { body }));
  assert.is(
    new Uint8Array(await new Response(api.requests[0]!.body as Uint8Array<ArrayBuffer>).arrayBuffer()).length,
    3 * 1024 * 1024,
  );
});

test("attack: a form of megabytes shares the event loop", async () => {
  const text = "/(".repeat(500_000);
  const list = Array(390_000).fill(1);
  for (const type of ["multipart/form-data", "application/x-www-form-urlencoded"]) {
    const encoding = { text: { allowReserved: true } };
    const requestBody = { content: { [type]: { encoding } } };
    const api = newApi({ document: oneOperation({ requestBody }, "/things", "post") });
    await assertLoopIsFree(() => api.call("op", { body: { text } }));
    await assertLoopIsFree(async () => {
      assert.match(await errorOf(() => api.call("op", { body: { list } })), /at most 10000 values/);
    });
    await api.call("op", { body: { list: list.slice(0, 9_000) } });
  }
});

test("attack: long names that many values of a form share are refused before they are written", async () => {
  const long = "k".repeat(1000);
  let deep: unknown = Array(5000).fill(1);
  for (let i = 0; i < 100; i++) deep = { [long.slice(0, 20)]: deep };
  for (const type of ["multipart/form-data", "application/x-www-form-urlencoded"]) {
    const requestBody = {
      content: {
        [type]: {
          schema: { properties: { deep: {} } },
          encoding: { deep: { style: "deepObject", explode: true } },
        },
      },
    };
    const api = newApi({ document: oneOperation({ requestBody }, "/things", "post") });
    for (
      const body of [{ [long]: Array(5000).fill(1) }, { deep: { [long]: Array(5000).fill(1) } }, { deep }]
    ) {
      await assertLoopIsFree(async () => {
        assert.match(await errorOf(() => api.call("op", { body })), /names of all values/);
      });
    }
  }
});

test.run();

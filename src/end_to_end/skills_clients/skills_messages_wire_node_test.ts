import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { folderOf } from "../../skills/test_service.ts";
import { call, createRequest, LOCAL, streamText, text } from "../../skills/messages/test_messages.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";

type ModelAnswer = (response: ServerResponse, body: string) => void;

/** How the model endpoint answers its next requests, and when their connections close. */
const script: ModelAnswer[] = [];
let closed: Promise<void>[] = [];
let model: Server;

function onRequest(request: IncomingMessage, response: ServerResponse): void {
  let body = "";
  closed.push(new Promise((resolve) => response.on("close", resolve)));
  request.on("data", (chunk) => body += chunk);
  request.on("end", () => script.shift()!(response, body));
}

const STREAM = { "content-type": "text/event-stream" };
const PLAIN = { model: "any", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
/** The events of a text up to its first delta. */
const BEGINNING = streamText([text("abcdef")]).split("\n\n").slice(0, 4).join("\n\n") + "\n\n";

for (const [name, serve] of Object.entries(entries)) {
  const test = suite(`messages on ${name}`);
  let server: RunningServer;

  test.before(async () => {
    model = createServer(onRequest);
    await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
    const { port } = model.address() as { port: number };
    const trivet = createTrivet({
      issuer: "http://127.0.0.1",
      store: memoryStore(),
      oauth: false,
      mcp: false,
      skills: {
        auth: "off",
        folders: [folderOf(new Map(LOCAL))],
        messages: { upstream: { url: `http://127.0.0.1:${port}`, key: "sk-upstream-secret" } },
      },
    });
    server = await serve(trivet, { port: 0, closeTimeout: 100 });
  });
  test.before.each(() => {
    closed = [];
    script.length = 0;
  });
  test.after(async () => {
    await server.close();
    model.closeAllConnections();
    await new Promise((resolve) => model.close(resolve));
  });

  const post = (body: unknown, signal?: AbortSignal): Promise<Response> =>
    fetch(server.url + "/v1/messages", {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "anthropic-version": "2026-10-21", "content-type": "application/json" },
      ...(signal && { signal }),
    });

  for (
    const [kind, body] of [["without skills", PLAIN], ["with skills", createRequest(["forms"])]] as const
  ) {
    test(`${kind}: events arrive before the model endpoint ends its response`, async () => {
      let finish!: () => void;
      script.push((response) => {
        response.writeHead(200, STREAM).write(BEGINNING);
        finish = () => response.end(streamText([text("abcdef")]).slice(BEGINNING.length));
      });
      const response = await post({ ...body, stream: true });
      assert.is(response.status, 200);
      assert.match(response.headers.get("request-id")!, /^req_/);
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let seen = "";
      while (!seen.includes('"abc"')) {
        seen += (await reader.read()).value ?? assert.unreachable("the stream ended");
      }
      assert.not.ok(seen.includes("message_stop"));
      finish();
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) seen += chunk.value;
      assert.match(seen, /event: message_stop\n/);
    });

    test(`${kind}: a client that disconnects ends the request to the model endpoint`, async () => {
      script.push((response) => void response.writeHead(200, STREAM).write(BEGINNING));
      const client = new AbortController();
      const response = await post({ ...body, stream: true }, client.signal);
      await response.body!.getReader().read();
      client.abort();
      await closed[0];
    });

    test(`${kind}: a client that disconnects before the response ends the request to the model endpoint`, async () => {
      let received!: () => void;
      const receiving = new Promise<void>((resolve) => received = resolve);
      script.push(() => received());
      const client = new AbortController();
      const answer = post(body, client.signal).then(() => false, () => true);
      await receiving;
      client.abort();
      assert.ok(await answer);
      await closed[0];
    });

    test(`${kind}: a model endpoint that disconnects is an error, not the end of the message`, async () => {
      script.push((response) => {
        response.writeHead(200, STREAM).write(BEGINNING, () => setTimeout(() => response.destroy(), 20));
      });
      const response = await post({ ...body, stream: true });
      const text = await response.text();
      assert.match(
        text,
        /event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"[^"]+"\}\}\n\n$/,
      );
    });
  }

  test("an unreachable model endpoint is a 502 without its URL", async () => {
    script.push((response) => response.destroy());
    const response = await post(PLAIN);
    assert.is(response.status, 502);
    const { error, request_id } = await response.json();
    assert.is(error.type, "api_error");
    assert.not.match(error.message, /127\.0\.0\.1|sk-upstream/);
    assert.is(request_id, response.headers.get("request-id"));
  });

  test("a call of load_skill causes a second request to the model endpoint", async () => {
    const bodies: string[] = [];
    script.push((response, body) => {
      bodies.push(body);
      response.writeHead(200, STREAM).end(streamText([call("toolu_1", "load_skill", { name: "forms" })]));
    }, (response, body) => {
      bodies.push(body);
      response.writeHead(200, STREAM).end(streamText([text("Filled.")]));
    });
    const response = await post({ ...createRequest(["forms"]), stream: true });
    const events = await response.text();
    assert.match(events, /"text":"led\."/);
    assert.is(JSON.parse(bodies[1]!).messages.length, 3);
  });

  test.run();
}

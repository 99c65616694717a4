import { connect } from "node:net";
import { setImmediate } from "node:timers";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skillMarkdown, type SkillsServer, startSkills } from "./test_skills_server.ts";

const test = suite("uploads over a socket");
let server: SkillsServer;
test.before(async () => void (server = await startSkills()));
test.after(() => server.close());

const MEBIBYTE = 1024 * 1024;
const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
const file = '--b\r\nContent-Disposition: form-data; name="files[]"; filename="demo/SKILL.md"\r\n\r\n';
const inChunk = (bytes: string | Uint8Array): Uint8Array => {
  const content = new TextEncoder().encode(typeof bytes === "string" ? bytes : "");
  const data = typeof bytes === "string" ? content : bytes;
  const frame = new TextEncoder().encode(`${data.length.toString(16)}\r\n`);
  return Uint8Array.from([...frame, ...data, 13, 10]);
};

/** Writes a request until the server closes, `maxBytes` are sent, or the response is complete. */
function exchange(
  fields: string,
  start: string | Uint8Array,
  more: Uint8Array | undefined,
  maxBytes: number,
): Promise<{ answer: string; sent: number }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    let sent = 0;
    let isOpen = true;
    const end = (): void => {
      isOpen = false;
      socket.destroy();
      resolve({ answer, sent });
    };
    const late = setTimeout(end, 20_000);
    socket.on("data", (data) => {
      answer += data;
      if (!more && answer.includes("request_id")) end();
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      clearTimeout(late);
      end();
    });
    socket.write(
      `POST /v1/skills HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-api-key: ${server.key}\r\n` +
        `content-type: multipart/form-data; boundary=b\r\n${fields}\r\n\r\n`,
    );
    socket.write(start);
    const go = (): void => {
      if (!isOpen || !more) return;
      if (sent >= maxBytes) return end();
      sent += more.length;
      if (socket.write(more)) setImmediate(go);
      else socket.once("drain", go);
    };
    go();
  });
}

for (
  const [what, fields, start, more] of [
    [
      "a declared length above the limit",
      `content-length: ${100 * MEBIBYTE}`,
      file,
      new Uint8Array(65_536),
    ],
    [
      "an endless chunked body",
      "transfer-encoding: chunked",
      inChunk(file),
      inChunk(new Uint8Array(65_536)),
    ],
  ] as const
) {
  test(`${what} gets 413 before the body ends`, async () => {
    const { answer, sent } = await exchange(fields, start, more, 99 * MEBIBYTE);
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.match(answer, '"error_code":"upload-too-large"');
    // The servers of the other runtimes continue to read.
    if (isNode) assert.ok(sent < 80 * MEBIBYTE, `${sent} bytes were sent before the connection was cut`);
  });
}

test("a malformed body is refused before its end", async () => {
  const { answer } = await exchange("content-length: 100000", "--b\nContent-Disposition", undefined, 0);
  assert.match(answer, /^HTTP\/1\.1 400 /);
  assert.match(answer, '"error_code":"upload-malformed"');
});

test("an upload whose client disconnects leaves no records", async () => {
  const { hostname, port } = new URL(server.url);
  const before = (await server.store.list([])).length;
  await Promise.all(Array.from({ length: 20 }, (_, i) =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      socket.once("close", () => resolve());
      socket.write(
        `POST /v1/skills HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-api-key: ${server.key}\r\ncontent-length: 1000000\r\n` +
          `content-type: multipart/form-data; boundary=b\r\n\r\n${file}${skillMarkdown("demo")}`,
        () => setTimeout(() => socket.destroy(), i),
      );
    })));
  const body = new FormData();
  body.append("files[]", new Blob([skillMarkdown("after")]), "after/SKILL.md");
  const headers = { "x-api-key": server.key };
  const response = await fetch(`${server.url}/v1/skills`, { method: "POST", headers, body });
  assert.is(response.status, 200, await response.text());
  const kinds = (await server.store.list([])).slice(before - 1).map(({ key }) => key[0]);
  assert.is(kinds.filter((kind) => kind === "skill").length, 1);
  assert.not.ok(kinds.includes("blob_pending"));
});

test("a refused upload with a short rest keeps the connection open", async () => {
  const { hostname, port } = new URL(server.url);
  const head = `host: ${hostname}:${port}\r\nx-api-key: ${server.key}\r\n`;
  const bad = "--b\nx".padEnd(50_000);
  const answer = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.once("close", () => resolve(text));
    socket.on("data", (data) => {
      text += data;
      if (text.split("request-id:").length > 2) socket.destroy();
    });
    socket.write(
      `POST /v1/skills HTTP/1.1\r\n${head}content-length: ${bad.length}\r\n` +
        `content-type: multipart/form-data; boundary=b\r\n\r\n${bad}` +
        `GET /v1/skills?limit=1 HTTP/1.1\r\n${head}connection: close\r\n\r\n`,
    );
  });
  const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  assert.equal(statuses, ["400", "200"]);
});

test.run();

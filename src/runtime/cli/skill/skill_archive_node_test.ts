import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore } from "../../../mod.ts";
import { createApiKey } from "../../../skills/api_key.ts";
import type { BlobStore } from "../../../skills/blobs/blob_store.ts";
import { readZip } from "../../../skills/archive/zip_reader.ts";
import type { FetchHandler } from "../../server.ts";
import { entries, sendRaw } from "../../../end_to_end/test_entries.ts";

const test = suite("downloads of archives");
const MEBIBYTE = 1024 * 1024;
const UPLOAD_LIMIT_BYTES = 64 * MEBIBYTE;
const PIECE_BYTES = 64 * 1024;

/** A blob store that returns contents in chunks on demand, and counts them. */
function countingBlobStore(): { blobStore: BlobStore; counts: { bytes: number; cancelled: number } } {
  const objects = new Map<string, Uint8Array>();
  const counts = { bytes: 0, cancelled: 0 };
  const blobStore: BlobStore = {
    kind: "counted",
    async put(name, content) {
      objects.set(name, new Uint8Array(await new Response(content as BodyInit).arrayBuffer()));
    },
    get(name) {
      const bytes = objects.get(name);
      if (!bytes) return Promise.resolve(undefined);
      let at = 0;
      return Promise.resolve(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            const piece = bytes.slice(at, at += PIECE_BYTES);
            counts.bytes += piece.length;
            if (piece.length > 0) controller.enqueue(piece);
            if (at >= bytes.length) controller.close();
          },
          cancel: () => void counts.cancelled++,
        }, { highWaterMark: 0 }),
      );
    },
    remove: (name) => Promise.resolve(void objects.delete(name)),
  };
  return { blobStore, counts };
}

async function start(serve: (typeof entries)[string]) {
  const handler: FetchHandler = { fetch: () => Promise.reject(new Error("The server is not ready")) };
  const errors: unknown[] = [];
  const server = await serve(handler, { port: 0, closeTimeout: 100, onError: (error) => errors.push(error) });
  const { blobStore, counts } = countingBlobStore();
  const store = memoryStore();
  const trivet = createTrivet({
    issuer: server.url,
    store,
    skills: { blobs: blobStore, uploadLimit: UPLOAD_LIMIT_BYTES, discovery: { workspaces: ["default"] } },
  });
  handler.fetch = trivet.fetch;
  const { secret } = await createApiKey(store, { name: "test" });
  const upload = async (files: Readonly<Record<string, Uint8Array | string>>): Promise<string> => {
    const body = new FormData();
    for (const [path, content] of Object.entries(files)) {
      body.append("files[]", new Blob([content as Uint8Array<ArrayBuffer>]), path);
    }
    // Without a connection: this test measures downloads only.
    const headers = { "x-api-key": secret };
    const request = new Request(server.url + "/v1/skills", { method: "POST", headers, body });
    const response = await trivet.fetch(request);
    const { id, error } = await response.json();
    assert.is(response.status, 200, error?.message);
    return `/v1/skills/${id}/versions/latest/content`;
  };
  return { server, counts, key: secret, upload, errors };
}

const SKILL_MD = "---\nname: demo\ndescription: Does it.\n---\nText\n";

for (const [name, serve] of Object.entries(entries)) {
  test(`${name}: a download has Content-Length, also for HEAD, and If-None-Match gets 304`, async () => {
    const { server, key, upload, errors } = await start(serve);
    try {
      const path = await upload({ "demo/SKILL.md": SKILL_MD, "demo/a.bin": new Uint8Array(3 * MEBIBYTE) });
      for (const location of [path, "/.well-known/agent-skills/demo.zip"]) {
        const headers = { "x-api-key": key };
        const response = await fetch(server.url + location, { headers });
        const bytes = new Uint8Array(await response.arrayBuffer());
        assert.is(response.status, 200);
        // Bun sends streams in chunks, without Content-Length.
        assert.is(response.headers.get("content-length"), name === "bun" ? null : String(bytes.length));
        const entries = await readZip(bytes, UPLOAD_LIMIT_BYTES);
        const folder = location === path ? "demo/" : "";
        assert.equal(entries.map((entry) => entry.path), [`${folder}SKILL.md`, `${folder}a.bin`]);
        const head = ["HEAD", "GET"].map((method) =>
          `${method} ${location} HTTP/1.1\r\nhost: ${server.hostname}:${server.port}\r\nx-api-key: ${key}\r\n` +
          `connection: close\r\n`
        );
        const [fields, ...rest] = (await sendRaw(server.port, head[0] + "\r\n")).split("\r\n\r\n");
        assert.match(
          fields!.toLowerCase(),
          new RegExp(`^http/1.1 200[^]*\\r\\ncontent-length: ${bytes.length}(\\r\\n|$)`),
        );
        assert.equal(rest, [""]);
        const known = `if-none-match: ${response.headers.get("etag")}\r\n\r\n`;
        assert.match(await sendRaw(server.port, head[1] + known), /^HTTP\/1.1 304 /);
      }
      assert.equal(errors, []);
    } finally {
      await server.close();
    }
  });

  test(`${name}: a client that does not read stops the blob store, and a client that disconnects cancels it`, async () => {
    const { server, counts, key, upload } = await start(serve);
    try {
      const path = await upload({ "demo/SKILL.md": SKILL_MD, "demo/big.bin": new Uint8Array(60 * MEBIBYTE) });
      counts.bytes = 0;
      const socket = connect({ port: server.port, host: "127.0.0.1" });
      socket.pause();
      socket.on("error", () => {});
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: ${server.hostname}:${server.port}\r\nx-api-key: ${key}\r\n\r\n`,
      );
      for (let before = -1; counts.bytes !== before || before === 0;) {
        before = counts.bytes;
        await pause(200);
      }
      const read = counts.bytes;
      assert.ok(read < 30 * MEBIBYTE, `the server read ${read} bytes for a client that read none`);
      assert.is(counts.cancelled, 0);
      socket.destroy();
      for (let waited = 0; counts.cancelled === 0 && waited < 10_000; waited += 50) await pause(50);
      assert.is(counts.cancelled, 1);
      assert.ok(counts.bytes < 40 * MEBIBYTE);
    } finally {
      await server.close();
    }
  });
}

test.run();

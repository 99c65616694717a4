import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { StoreUnavailableError } from "../../store/store.ts";
import { createLedger } from "./blob_ledger.ts";
import { readAll } from "./blob_store.ts";
import { digestOf } from "../content_digest.ts";
import { s3Blobs } from "./s3.ts";
import { DEMO, newService } from "../test_service.ts";

const test = suite("skills/blobs/s3");
const SECRET = "secret/key+with=signs";

/** An S3 bucket that verifies AWS Signature Version 4 with its own implementation. */
class Bucket {
  readonly objects = new Map<string, Uint8Array>();
  readonly requests: string[] = [];
  /** Statuses of the next responses. */
  failures: [status: number, code?: string][] = [];
  onChunk: (() => void) | undefined;
  url = "";
  #port = 0;
  #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as { port: number }).port;
    this.url = `http://127.0.0.1:${this.#port}`;
  }

  stop(): Promise<unknown> {
    this.#server.closeAllConnections?.();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of request) {
        chunks.push(chunk);
        this.onChunk?.();
      }
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    const refuse = (status: number, code: string) =>
      response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
    this.requests.push(`${request.method} ${request.url}`);
    const [status, code = "SlowDown"] = this.failures.shift() ?? [];
    if (status) return void refuse(status, code);
    if (request.headers.authorization !== sign(request, SECRET)) {
      return void refuse(403, "SignatureDoesNotMatch");
    }
    const hash = createHash("sha256").update(body).digest("hex");
    if (request.headers["x-amz-content-sha256"] !== hash) {
      return void refuse(400, "XAmzContentSHA256Mismatch");
    }
    const name = decodeURIComponent(request.url!);
    if (!name.startsWith("/bucket/")) return void refuse(404, "NoSuchBucket");
    if (request.method === "PUT") {
      if (request.headers["content-length"] === undefined) return void refuse(411, "MissingContentLength");
      this.objects.set(name, body);
      return void response.end();
    }
    if (request.method === "DELETE") {
      this.objects.delete(name);
      return void response.writeHead(204).end();
    }
    const found = this.objects.get(name);
    if (!found) return void refuse(404, "NoSuchKey");
    response.end(found);
  }
}

function sign(request: IncomingMessage, secret: string): string {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d+)\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=/
      .exec(request.headers.authorization ?? "");
  if (!given) return "no signature";
  const [, id, day, region, signed] = given;
  const names = signed!.split(";");
  const canonical = [
    request.method,
    request.url,
    "",
    ...names.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    "",
    signed,
    request.headers["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [
    "AWS4-HMAC-SHA256",
    request.headers["x-amz-date"],
    scope,
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const hmac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
  const key = [day!, region!, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  const signature = createHmac("sha256", key).update(text).digest("hex");
  return `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
}

async function withBucket(
  work: (bucket: Bucket, blobs: ReturnType<typeof s3Blobs>) => Promise<void>,
): Promise<void> {
  const bucket = new Bucket();
  await bucket.start();
  const blobs = s3Blobs({
    bucket: "bucket",
    prefix: "trivet/",
    region: "eu-central-1",
    endpoint: bucket.url,
    accessKeyId: "AKID",
    secretAccessKey: SECRET,
  });
  await work(bucket, blobs).finally(() => bucket.stop());
}

test("objects are stored and read with signed requests under the prefix", () =>
  withBucket(async (bucket, blobs) => {
    for (const size of [0, 1, 100_000]) {
      const bytes = new Uint8Array(size).map((_, i) => i * 31);
      const name = `s3/${"ab".repeat(32)}/x_-${size}`;
      await blobs.put(name, bytes, size, await digestOf(bytes));
      assert.ok(bucket.objects.has(`/bucket/trivet/${name}`));
      assert.is(await digestOf(await readAll((await blobs.get(name))!, size)), await digestOf(bytes));
      await blobs.remove(name);
      await blobs.remove(name);
      assert.is(await blobs.get(name), undefined);
    }
    assert.is(bucket.objects.size, 0);
  }));

test("a stream is uploaded without buffering", () =>
  withBucket(async (bucket, blobs) => {
    const size = 8 * 65_536;
    let arrived = () => {};
    const first = new Promise<void>((resolve) => arrived = resolve);
    bucket.onChunk = () => arrived();
    const chunk = new Uint8Array(65_536).fill(7);
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // Deno's fetch cannot declare the length of a stream, which S3 requires, so the stream is buffered there.
        if (sent === 4 && !("Deno" in globalThis)) await first;
        if (sent++ < 8) controller.enqueue(chunk);
        else controller.close();
      },
    }, { highWaterMark: 0 });
    await blobs.put("s3/d/1", stream, size, await digestOf(new Uint8Array(size).fill(7)));
    assert.is(bucket.objects.get("/bucket/trivet/s3/d/1")!.length, size);
  }));

test("a busy service is retried; if it stays busy or unreachable, the store is unavailable", () =>
  withBucket(async (bucket, blobs) => {
    const bytes = new Uint8Array(3);
    bucket.failures = [[503], [400, "RequestTimeout"]];
    await blobs.put("s3/d/1", bytes, 3, await digestOf(bytes));
    assert.is(bucket.requests.length, 3);
    bucket.failures = [[503], [500], [429], [408]];
    const busy = await blobs.get("s3/d/1").catch((error: Error) => error);
    assert.instance(busy, StoreUnavailableError);
    await bucket.stop();
    const unreachable = await blobs.get("s3/d/1").catch((error: Error) => error);
    assert.instance(unreachable, StoreUnavailableError);
    assert.not.match(String(unreachable), SECRET);
    await bucket.start();
  }));

test("the timeout applies between chunks and before the response, not to a whole download", async () => {
  const server = createServer(async ({ url }, response) => {
    if (url === "/b/never") return;
    response.writeHead(200);
    for (let i = 0; i < 8; i++) {
      response.write(new Uint8Array(1000));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    if (url !== "/b/stuck") response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const keys = { accessKeyId: "id", secretAccessKey: SECRET };
  const blobs = s3Blobs({ bucket: "b", endpoint: `http://127.0.0.1:${port}`, ...keys, timeout: 500 });
  try {
    const [long, stuck] = await Promise.all([blobs.get("long"), blobs.get("stuck")]);
    assert.is((await readAll(long!, 8000)).length, 8000);
    assert.instance(await readAll(stuck!, 8000).catch((error) => error), StoreUnavailableError);
    assert.instance(await blobs.get("never").catch((error) => error), StoreUnavailableError);
  } finally {
    server.closeAllConnections?.();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("an error of the service contains its status and code", () =>
  withBucket(async ({ url }, blobs) => {
    const other = (bucket: string, secretAccessKey: string) =>
      s3Blobs({ bucket, endpoint: url, region: "eu-central-1", accessKeyId: "AKID", secretAccessKey });
    const reason = (promise: Promise<unknown>) => promise.then(() => "none", (error: Error) => error.message);
    assert.match(
      await reason(other("bucket", "wrong").get("s3/d/1")),
      /GET s3\/d\/1: 403 SignatureDoesNotMatch$/,
    );
    assert.match(await reason(other("other", SECRET).get("s3/d/1")), /GET s3\/d\/1: 404 NoSuchBucket$/);
    assert.match(await reason(other("other", SECRET).remove("s3/d/1")), /DELETE s3\/d\/1: 404 NoSuchBucket$/);
    const digest = await digestOf(new Uint8Array(4));
    assert.match(
      await reason(blobs.put("s3/d/1", new Uint8Array([1, 2, 3, 4]), 4, digest)),
      /PUT s3\/d\/1: 400 XAmzContentSHA256Mismatch$/,
    );
    assert.throws(
      () => s3Blobs({ bucket: "b", endpoint: "x", accessKeyId: "", secretAccessKey: "" }),
      /endpoint/,
    );
  }));

test("redirects are not followed", async () => {
  const received: string[] = [];
  const other = createServer((request, response) => {
    received.push(String(request.headers["x-amz-security-token"]));
    response.end("bytes");
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const target = `http://127.0.0.1:${(other.address() as { port: number }).port}/`;
  const redirecting = createServer((_, response) => response.writeHead(307, { location: target }).end());
  await new Promise<void>((resolve) => redirecting.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(redirecting.address() as { port: number }).port}`;
  try {
    const blobs = s3Blobs({
      bucket: "b",
      endpoint,
      accessKeyId: "AKID",
      secretAccessKey: SECRET,
      sessionToken: "token",
    });
    for (const work of [() => blobs.get("x"), () => blobs.remove("x")]) {
      assert.match(await work().then(() => "none", (error: Error) => error.message), "307");
    }
    assert.equal(received, []);
  } finally {
    other.close();
    redirecting.close();
  }
});

test("the Skills service stores files in a bucket, and responds 503 while the bucket is unreachable", () =>
  withBucket(async (bucket, blobs) => {
    const { service, store, upload, send } = await newService({ blobs });
    const { id } = await (await upload(DEMO)).json();
    assert.is(bucket.objects.size, 3);
    assert.equal(await store.list(["blob_data"]), []);
    const reader = { workspace: "default", scopes: new Set(["skills:read"]) };
    assert.match((await service.catalog.load(reader, id))!.instructions, "# Demo");
    assert.equal((await service.catalog.read(reader, id, "data.bin"))!.bytes, DEMO[2]![1] as Uint8Array);
    assert.is((await send(`/v1/skills/${id}`, { method: "DELETE" })).status, 200);
    assert.is(bucket.objects.size, 0);
    await bucket.stop();
    const refused = await upload(DEMO);
    assert.is(refused.status, 503);
    assert.is(refused.headers.get("retry-after"), "1");
    await bucket.start();
    await createLedger(store, () => Date.now() + 7_200_000, blobs).collect();
    assert.equal(await store.list(["blob_pending"]), []);
  }));

test.run();

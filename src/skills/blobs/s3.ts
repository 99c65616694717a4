/**
 * A blob store in S3 or a compatible service (R2, MinIO, Garage, Ceph), with requests signed by aws4fetch. Objects are
 * streamed; the service verifies the SHA-256 digest of each upload
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../../options/option_check.ts";
import { AwsV4Signer } from "aws4fetch";
import { ByteBuffer } from "../../http/body/byte_buffer.ts";
import { timerDelay } from "../../timer.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import { type BlobContent, type BlobStore, readAll } from "./blob_store.ts";
export type { BlobStore } from "./blob_store.ts";

/** Options of a blob store in a bucket. */
export interface S3Options {
  readonly bucket: string;
  /** Prefix of all keys, so that a bucket can hold other data too. @default "" */
  readonly prefix?: string;
  /** @default "us-east-1" */
  readonly region?: string;
  /** Where the service is; buckets are named in the path. @default Amazon's, in the region */
  readonly endpoint?: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /**
   * Idle timeout in milliseconds: until the response begins (longer for an upload, by its size), and between two chunks.
   * It does not limit the duration of a download. @default 60000
   */
  readonly timeout?: number;
}

const NAMES: Names<S3Options> = {
  bucket: "string",
  prefix: "string",
  region: "string",
  endpoint: "string",
  accessKeyId: "string",
  secretAccessKey: "string",
  sessionToken: "string",
  timeout: "number",
};

/**
 * S3 requires a content length. Node, Bun and workerd send it with a stream; Deno's fetch omits it, so there the stream is
 * read completely first.
 */
const STREAMS_WITH_LENGTH = !("Deno" in globalThis);
const EMPTY_DIGEST = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** Bytes of an error document that are read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Retries of what may pass, unless the body is a stream. */
const MAX_RETRIES = 3;
/** Minimum upload rate, for the timeout of an upload. */
const MIN_BYTES_PER_MS = 64;

/** A blob store in a bucket. @throws {TypeError} for an endpoint that is not a URL */
export function s3Blobs(options: S3Options): BlobStore {
  checkNames("s3Blobs", options, NAMES);
  const { bucket, prefix = "", region = "us-east-1", timeout = 60_000 } = options;
  checkWhole("s3Blobs.timeout", timeout, 1);
  const endpoint = (options.endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/$/, "");
  const parsed = URL.parse(endpoint);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username !== "" || parsed.password !== "") {
    // Not the value: it may have a password.
    throw new TypeError("The S3 endpoint must be an http or https URL, without a user name or password");
  }
  const urlOf = (name: string) =>
    `${endpoint}/${bucket}/${(prefix + name).split("/").map(encodeURIComponent).join("/")}`;

  async function send(
    method: "GET" | "PUT" | "DELETE",
    name: string,
    content?: BlobContent,
    size = 0,
    digest = EMPTY_DIGEST,
  ): Promise<Response> {
    for (let tries = 0;; tries++) {
      const response = await sendOnce(method, name, content, size, digest);
      const { status } = response;
      if (status < 400 || status === 404) return response;
      const text = await textOf(response);
      if (!mayPass(status, codeOf(text))) return new Response(text, { status });
      if (tries === MAX_RETRIES || content instanceof ReadableStream) {
        throw new StoreUnavailableError(`S3 answered ${status} ${codeOf(text)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** tries * (0.5 + Math.random())));
    }
  }

  async function sendOnce(
    method: string,
    name: string,
    content: BlobContent | undefined,
    size: number,
    digest: string,
  ): Promise<Response> {
    const signer = new AwsV4Signer({
      method,
      url: urlOf(name),
      headers: {
        "x-amz-content-sha256": digest,
        ...(method === "PUT" &&
          { "content-length": String(size), "content-type": "application/octet-stream" }),
      },
      accessKeyId: options.accessKeyId,
      secretAccessKey: options.secretAccessKey,
      ...(options.sessionToken !== undefined && { sessionToken: options.sessionToken }),
      service: "s3",
      region,
    });
    const { url, headers } = await signer.sign();
    const watch = new IdleWatch(timeout);
    const init = {
      method,
      headers,
      body: content as BodyInit | null ?? null,
      signal: watch.signal,
      // Never follow redirects: the target would get the session token.
      redirect: "manual" as const,
      // Required by the Fetch standard for a stream body.
      ...(content instanceof ReadableStream && { duplex: "half" }),
    };
    const response = await watch.wait(fetch(url, init), size / MIN_BYTES_PER_MS);
    return response.body
      ? new Response(watched(response.body, watch), { status: response.status, headers: response.headers })
      : response;
  }

  return {
    kind: "s3",
    async put(name, content, size, digest) {
      const body = content instanceof Uint8Array || STREAMS_WITH_LENGTH
        ? content
        : await readAll(content, size);
      const response = await send("PUT", name, body, size, digest.slice("sha256:".length));
      if (!response.ok) throw await refusal("PUT", name, response);
      await response.body?.cancel();
    },
    async get(name) {
      const response = await send("GET", name);
      if (response.ok) return response.body ?? new Blob([]).stream();
      await requireMissing("GET", name, response);
      return undefined;
    },
    async remove(name) {
      const response = await send("DELETE", name);
      if (!response.ok) await requireMissing("DELETE", name, response);
      else await response.body?.cancel();
    },
  };
}

/** Aborts a request when a read takes longer than the timeout. */
class IdleWatch {
  readonly #controller = new AbortController();
  readonly #timeout: number;

  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @param more milliseconds beyond the timeout */
  async wait<Value>(work: Promise<Value>, more = 0): Promise<Value> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`No data within ${this.#timeout} ms`));
        this.#controller.abort();
      }, timerDelay(this.#timeout + more));
    });
    try {
      return await Promise.race([work, late]);
    } catch (cause) {
      throw new StoreUnavailableError("S3 cannot be reached", { cause });
    } finally {
      clearTimeout(timer);
      // Its rejection after the race is ignored.
      work.catch(() => {});
    }
  }
}

/** The same stream, with the idle timeout for each read. */
function watched(
  body: ReadableStream<Uint8Array>,
  watch: IdleWatch,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await watch.wait(reader.read());
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** Whether the same request may succeed later. S3 says with 400 that a body arrived too slowly. */
function mayPass(status: number, code: string): boolean {
  return status >= 500 || status === 429 || status === 408 || code === "RequestTimeout";
}

/** The beginning of an error response. */
async function textOf(response: Response): Promise<string> {
  const read = new ByteBuffer();
  for await (const piece of response.body ?? []) {
    read.append(piece);
    if (read.length >= MAX_ERROR_BYTES) break;
  }
  return new TextDecoder().decode(read.view());
}

/** @throws {Error} for a refusal other than that of an object that does not exist, as when the bucket does not */
async function requireMissing(method: string, name: string, response: Response): Promise<void> {
  const error = await refusal(method, name, response);
  if (response.status !== 404 || error.message.includes("NoSuchBucket")) throw error;
}

async function refusal(method: string, name: string, response: Response): Promise<Error> {
  return new Error(`S3 refused ${method} ${name}: ${response.status} ${codeOf(await textOf(response))}`);
}

/** The code of an error document, such as `AccessDenied`. */
function codeOf(xml: string): string {
  return /<Code>(\w+)<\/Code>/.exec(xml)?.[1] ?? "";
}

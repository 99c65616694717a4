/**
 * Requests to a server: with the credentials, a timeout between bytes, and two retries when the server is overloaded, as the
 * SDKs of the Skills API do. Bodies are streams.
 *
 * @module
 */
import { ByteBuffer } from "../../../http/body/byte_buffer.ts";
import { VERSION } from "../../../version.ts";
import { ApiError, explainFailure, readApiError, readObject } from "./api_error.ts";
import { type Credentials, toCredentialFields } from "./credentials.ts";
import { startTimeout, type Timeout } from "./byte_timeout.ts";
import type { MultipartBody } from "./multipart_body.ts";
import { NO_PROGRESS, type Progress } from "../progress_bar.ts";

export interface ApiServer {
  /** The paths of the API are appended to it. */
  readonly url: URL;
  readonly credentials: Credentials | undefined;
  /** A request fails when no byte is sent or received for so long. */
  readonly timeoutMs: number;
}

export interface Upload {
  readonly body: MultipartBody;
  readonly progress: Progress;
}

/** A body of JSON. */
export interface JsonContent {
  readonly json: unknown;
}

export interface Download {
  /** Bytes, where the server declares them. */
  readonly length: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ApiConnection {
  /**
   * Sends a request. Returns the JSON object of the response; an empty object for a response without a body. A POST is
   * repeated only when the server refused it before it was processed: otherwise it may have been done.
   * @throws {ApiError} for an error response
   */
  send(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    content?: Upload | JsonContent,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Downloads a file. @throws {ApiError} for an error response */
  download(path: string): Promise<Download>;
}

/** The first version of the API, which every server accepts. */
const API_VERSION = "2023-06-01";
/** Of a JSON response: a page of the longest list has a tenth of it. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const MAX_TRIES = 3;
/** Statuses of a request that can be repeated: it was not processed, or doing it twice is the same as once. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([429, 503, 529]);
/** Those of a POST, which must not be done twice: after 503 it may have been done. */
const POST_STATUSES: ReadonlySet<number> = new Set([429, 529]);
/** The longest pause before a retry, whatever Retry-After says. */
const MAX_RETRY_DELAY_MS = 10_000;

export function connectApi({ url, credentials, timeoutMs }: ApiServer, signal: AbortSignal): ApiConnection {
  /** Sends the request once. The timeout covers `read` too. */
  async function attempt<Result>(
    method: string,
    path: string,
    upload: Upload | undefined,
    read: (response: Response, timeout: Timeout) => Promise<Result>,
  ): Promise<Result> {
    const target = new URL(url.href.replace(/\/$/, "") + path);
    const timeout = startTimeout(target, signal, timeoutMs);
    try {
      const response = await fetch(target, {
        method,
        signal: timeout.signal,
        // The key must not be sent to another server.
        redirect: "manual",
        headers: {
          accept: "application/json, application/zip;q=0.9, */*;q=0.8",
          "anthropic-version": API_VERSION,
          "user-agent": `trivet/${VERSION}`,
          ...toCredentialFields(credentials),
          ...upload && { "content-type": upload.body.type, "content-length": String(upload.body.length) },
        },
        ...upload && { body: sendBody(upload, timeout), duplex: "half" },
      } as RequestInit);
      timeout.restart();
      if (response.ok) return await read(response, timeout);
      const text = new TextDecoder().decode(await readAll(response, MAX_RESPONSE_BYTES, timeout));
      throw new ErrorResponse(response, readApiError(response, text, credentials, path));
    } catch (error) {
      timeout.stop();
      if (timeout.signal.aborted) throw timeout.signal.reason;
      if (error instanceof ErrorResponse || error instanceof InvalidResponse) throw error;
      throw explainFailure(target, error);
    }
  }

  async function retryWhileOverloaded<Result>(
    run: () => Promise<Result>,
    statuses = RETRYABLE_STATUSES,
  ): Promise<Result> {
    for (let tries = 1;; tries++) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof ErrorResponse)) throw error;
        const { response } = error;
        const isFinal = tries === MAX_TRIES || !statuses.has(response.status) ||
          response.headers.get("x-should-retry") === "false";
        if (isFinal) throw error.error;
        await pause(retryDelayMs(response, tries), signal);
      }
    }
  }

  return {
    send(method, path, content) {
      const upload = content !== undefined && "json" in content ? toUpload(content) : content;
      return retryWhileOverloaded(
        () =>
          attempt(method, path, upload, async (response, timeout) => {
            const text = new TextDecoder().decode(await readAll(response, MAX_RESPONSE_BYTES, timeout));
            timeout.stop();
            return readObject(text);
          }),
        method === "POST" ? POST_STATUSES : RETRYABLE_STATUSES,
      );
    },
    download: (path) =>
      retryWhileOverloaded(() =>
        attempt(
          "GET",
          path,
          undefined,
          (response, timeout) => Promise.resolve(readDownload(response, timeout)),
        )
      ),
  };
}

function toUpload({ json }: JsonContent): Upload {
  const bytes = new TextEncoder().encode(JSON.stringify(json));
  const body = {
    type: "application/json",
    length: bytes.length,
    stream: () => new Blob([bytes]).stream(),
  };
  return { body, progress: NO_PROGRESS };
}

/** A response whose status is not 2xx. */
class ErrorResponse extends Error {
  readonly response: Response;
  readonly error: ApiError;

  constructor(response: Response, error: ApiError) {
    super(error.message);
    this.response = response;
    this.error = error;
  }
}

/** A 2xx response that cannot be what was requested. */
class InvalidResponse extends Error {
  override readonly name = "InvalidResponse";
}

function sendBody({ body, progress }: Upload, timeout: Timeout): ReadableStream<Uint8Array> {
  progress.begin(body.length);
  return body.stream().pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        timeout.restart();
        progress.advance(chunk.length);
        controller.enqueue(chunk);
      },
    }),
  );
}

async function* readChunks(response: Response, timeout: Timeout): AsyncGenerator<Uint8Array> {
  if (!response.body) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      timeout.restart();
      yield value;
    }
  } finally {
    timeout.stop();
    // The rest of the body, if any, is not read.
    await reader.cancel().catch(() => {});
  }
}

async function readAll(response: Response, limit: number, timeout: Timeout): Promise<Uint8Array> {
  const buffer = new ByteBuffer();
  for await (const chunk of readChunks(response, timeout)) {
    if (buffer.length + chunk.length > limit) {
      throw new InvalidResponse(`The response of ${timeout.url.host} is larger than ${limit} bytes`);
    }
    buffer.append(chunk);
  }
  return buffer.take();
}

function readDownload(response: Response, timeout: Timeout): Download {
  const { headers } = response;
  const field = headers.get("content-length");
  // The length of an encoded body is not that of its content.
  const length = field !== null && /^\d{1,15}$/.test(field) && !headers.has("content-encoding")
    ? Number(field)
    : undefined;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let at = 0;
    try {
      for await (const chunk of readChunks(response, timeout)) {
        at += chunk.length;
        yield chunk;
      }
    } catch (error) {
      throw timeout.signal.aborted ? timeout.signal.reason : explainFailure(timeout.url, error);
    }
    if (length !== undefined && at !== length) {
      throw new InvalidResponse(`${timeout.url.host} sent ${at} of ${length} bytes. Try again`);
    }
  }
  return { length, chunks: chunks() };
}

function retryDelayMs({ headers }: Response, tries: number): number {
  const field = headers.get("retry-after");
  const seconds = field !== null && /^\d{1,6}$/.test(field) ? Number(field) : 2 ** (tries - 1) / 2;
  return Math.min(seconds * 1000, MAX_RETRY_DELAY_MS);
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });
}

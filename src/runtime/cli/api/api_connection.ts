/**
 * Requests to a server of the Skills API: with the key, a limit on silence, and the two tries more that its SDKs make
 * where the server says that it has too much to do. Bodies go and come as streams.
 *
 * @module
 */
import { ByteBuffer } from "../../../http/body/byte_buffer.ts";
import { VERSION } from "../../../version.ts";
import { ApiError, explainFailure, readApiError, readObject } from "./api_error.ts";
import type { MultipartBody } from "./multipart_body.ts";
import type { Progress } from "../progress_bar.ts";

export interface ApiServer {
  /** What paths of the API are put behind; without a slash at its end. */
  readonly url: URL;
  readonly key: string | undefined;
  /** Milliseconds without a byte in either direction after which the server is given up. */
  readonly patience: number;
}

export interface Upload {
  readonly body: MultipartBody;
  readonly progress: Progress;
}

export interface Download {
  /** Bytes, where the server says so. */
  readonly length: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ApiConnection {
  /** The JSON object of an answer. @throws {ApiError} for a refusal */
  send(
    method: "GET" | "POST" | "DELETE",
    path: string,
    upload?: Upload,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** What lies at a path, as it comes. @throws {ApiError} for a refusal */
  download(path: string): Promise<Download>;
}

/** What the API's clients have sent since it began, and every server of it takes. */
const API_VERSION = "2023-06-01";
/** Bytes of a JSON answer: a page of the longest list has a tenth of it. */
const LONGEST_ANSWER = 16 * 1024 * 1024;
const TRIES = 3;
/** Refusals that hold for a moment only, and mean that nothing was done. */
const PASSING = new Set([429, 503, 529]);
/** Seconds that are waited at most, whatever the server asks for. */
const LONGEST_WAIT = 10;

export function connectApi({ url, key, patience }: ApiServer, signal: AbortSignal): ApiConnection {
  /** One try. `read` takes the answer in, while silence is still counted. */
  async function attempt<Result>(
    method: string,
    path: string,
    upload: Upload | undefined,
    read: (response: Response, watch: Watch) => Promise<Result>,
  ): Promise<Result> {
    const target = new URL(url.href.replace(/\/$/, "") + path);
    const watch = watchSilence(target, signal, patience);
    try {
      const response = await fetch(target, {
        method,
        signal: watch.signal,
        // A key is for the server that it was given for.
        redirect: "manual",
        headers: {
          accept: "application/json, application/zip;q=0.9, */*;q=0.8",
          "anthropic-version": API_VERSION,
          "user-agent": `trivet/${VERSION}`,
          ...key !== undefined && { "x-api-key": key },
          ...upload && { "content-type": upload.body.type, "content-length": String(upload.body.length) },
        },
        ...upload && { body: sendBody(upload, watch), duplex: "half" },
      } as RequestInit);
      watch.touch();
      if (response.ok) return await read(response, watch);
      const text = new TextDecoder().decode(await readAll(response, LONGEST_ANSWER, watch));
      throw new Refusal(response, readApiError(response, text, key !== undefined));
    } catch (error) {
      watch.stop();
      if (watch.signal.aborted) throw watch.signal.reason;
      if (error instanceof Refusal || error instanceof AnswerError) throw error;
      throw explainFailure(target, error);
    }
  }

  async function patiently<Result>(run: () => Promise<Result>): Promise<Result> {
    for (let tries = 1;; tries++) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { response, refusal } = error;
        const isFinal = tries === TRIES || !PASSING.has(response.status) ||
          response.headers.get("x-should-retry") === "false";
        if (isFinal) throw refusal;
        await pause(waitOf(response, tries), signal);
      }
    }
  }

  return {
    send: (method, path, upload) =>
      patiently(() =>
        attempt(method, path, upload, async (response, watch) => {
          const text = new TextDecoder().decode(await readAll(response, LONGEST_ANSWER, watch));
          watch.stop();
          return readObject(text);
        })
      ),
    download: (path) =>
      patiently(() =>
        attempt("GET", path, undefined, (response, watch) => Promise.resolve(readDownload(response, watch)))
      ),
  };
}

/** An answer that is not 2xx, on its way out of a try. */
class Refusal extends Error {
  readonly response: Response;
  readonly refusal: ApiError;

  constructor(response: Response, refusal: ApiError) {
    super(refusal.message);
    this.response = response;
    this.refusal = refusal;
  }
}

/** An answer that cannot be what was asked for. */
class AnswerError extends Error {
  override readonly name = "AnswerError";
}

interface Watch {
  /** Given when the server was silent for too long, or the user has had enough. */
  readonly signal: AbortSignal;
  readonly url: URL;
  /** A byte has come or gone. */
  touch(): void;
  stop(): void;
}

function watchSilence(url: URL, interrupt: AbortSignal, patience: number): Watch {
  const controller = new AbortController();
  const stop = () => {
    clearTimeout(timer);
    interrupt.removeEventListener("abort", end);
  };
  const end = () => {
    stop();
    controller.abort(interrupt.reason);
  };
  const giveUp = () => {
    stop();
    const seconds = patience / 1000;
    controller.abort(
      new Error(`${url.host} was silent for ${seconds} seconds: try again, or give a longer --timeout`),
    );
  };
  let timer = setTimeout(giveUp, patience);
  if (interrupt.aborted) end();
  else interrupt.addEventListener("abort", end);
  return {
    signal: controller.signal,
    url,
    stop,
    touch() {
      clearTimeout(timer);
      if (!controller.signal.aborted) timer = setTimeout(giveUp, patience);
    },
  };
}

function sendBody({ body, progress }: Upload, watch: Watch): ReadableStream<Uint8Array> {
  progress.begin(body.length);
  return body.stream().pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        watch.touch();
        progress.advance(chunk.length);
        controller.enqueue(chunk);
      },
    }),
  );
}

async function* readChunks(response: Response, watch: Watch): AsyncGenerator<Uint8Array> {
  if (!response.body) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watch.touch();
      yield value;
    }
  } finally {
    watch.stop();
    // Nobody reads the rest, if there is any.
    await reader.cancel().catch(() => {});
  }
}

async function readAll(response: Response, limit: number, watch: Watch): Promise<Uint8Array> {
  const buffer = new ByteBuffer();
  for await (const chunk of readChunks(response, watch)) {
    if (buffer.length + chunk.length > limit) {
      throw new AnswerError(`${watch.url.host} answered with more than ${limit} bytes`);
    }
    buffer.append(chunk);
  }
  return buffer.take();
}

function readDownload(response: Response, watch: Watch): Download {
  const { headers } = response;
  const field = headers.get("content-length");
  // What was packed for the way has another length when it is unpacked.
  const length = field !== null && /^\d{1,15}$/.test(field) && !headers.has("content-encoding")
    ? Number(field)
    : undefined;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let at = 0;
    try {
      for await (const chunk of readChunks(response, watch)) {
        at += chunk.length;
        yield chunk;
      }
    } catch (error) {
      throw watch.signal.aborted ? watch.signal.reason : explainFailure(watch.url, error);
    }
    if (length !== undefined && at !== length) {
      throw new AnswerError(`${watch.url.host} sent ${at} of ${length} bytes: try again`);
    }
  }
  return { length, chunks: chunks() };
}

/** Milliseconds. */
function waitOf({ headers }: Response, tries: number): number {
  const field = headers.get("retry-after");
  const seconds = field !== null && /^\d{1,6}$/.test(field) ? Number(field) : 2 ** (tries - 1) / 2;
  return Math.min(seconds, LONGEST_WAIT) * 1000;
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

/**
 * Records what vectors exchange with Trivet in the baseline run, and finds the vectors that a fault cannot affect: those
 * whose requests and responses it leaves as they are.
 *
 * @module
 */
import type { Handler, Wrap } from "./mutant.ts";

/** A request of a vector and its response. */
export interface RecordedExchange {
  readonly path: string;
  readonly method: string;
  readonly url: string;
  readonly fields: readonly [string, string][];
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** Absent if the handler threw. */
  response?: {
    readonly status: number;
    readonly fields: readonly [string, string][];
    readonly hasBody: boolean;
  };
  readonly chunks: Uint8Array<ArrayBuffer>[];
  /** The response arrived to its end. */
  isComplete: boolean;
}

/** A fault that takes longer to answer a recorded request may be one that does not answer. */
const MAX_ANSWER_MS = 500;

/** Adds every exchange with a handler to `exchanges`. */
export function record(next: Handler, exchanges: RecordedExchange[]): Handler {
  return async (request) => {
    const exchange: RecordedExchange = {
      path: new URL(request.url).pathname,
      method: request.method,
      url: request.url,
      fields: [...request.headers],
      body: request.body ? new Uint8Array(await request.clone().arrayBuffer()) : undefined,
      chunks: [],
      isComplete: false,
    };
    exchanges.push(exchange);
    const response = await next(request);
    const { status, headers, body } = response;
    exchange.response = { status, fields: [...headers], hasBody: body !== null };
    if (!body) {
      exchange.isComplete = true;
      return response;
    }
    const reader = body.getReader();
    const recorded = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          exchange.isComplete = true;
          controller.close();
          return;
        }
        exchange.chunks.push(new Uint8Array(value));
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    }, { highWaterMark: 0 });
    return new Response(recorded, { status, headers });
  };
}

/**
 * Finds the vectors that a fault may affect, by replaying what was recorded: the fault receives the recorded requests and
 * forwards them to the recorded responses. A vector of which it changes nothing has the same result as without it.
 *
 * @param recordings the exchanges of each vector, in the order of the run
 */
export async function findAffected(
  wrap: Wrap,
  recordings: ReadonlyMap<string, readonly RecordedExchange[]>,
): Promise<ReadonlySet<string>> {
  let forward: Handler = () => Promise.reject(new Error("No request is replayed"));
  const faulty = wrap((request) => forward(request));
  const isChanged = async (exchange: RecordedExchange): Promise<boolean> => {
    // Such a stream or its cancellation cannot be replayed.
    if (!exchange.isComplete || !exchange.response) return true;
    const request = toRequest(exchange);
    const response = toResponse(exchange);
    let forwarded = 0;
    let isSame = true;
    forward = async (received) => {
      forwarded++;
      isSame &&= received === request || await isSameRequest(received, exchange);
      return response;
    };
    try {
      const answer = await withLimit(faulty(request));
      return !answer || forwarded !== 1 || !isSame || !await isSameResponse(answer, response, exchange);
    } catch {
      return true;
    }
  };
  const affected = new Set<string>();
  for (const [name, exchanges] of recordings) {
    if (wrap.path !== undefined && !exchanges.some(({ path }) => path === wrap.path)) continue;
    // All are replayed, because a fault may remember some for later ones, and of other paths than its own.
    for (const exchange of exchanges) if (await isChanged(exchange)) affected.add(name);
  }
  return affected;
}

function toRequest({ method, url, fields, body }: RecordedExchange): Request {
  return new Request(url, { method, headers: fields as [string, string][], ...(body && { body }) });
}

function toResponse({ response, chunks }: RecordedExchange): Response {
  const { status, fields, hasBody } = response!;
  return new Response(hasBody ? join(chunks) : null, { status, headers: fields as [string, string][] });
}

async function isSameRequest(request: Request, exchange: RecordedExchange): Promise<boolean> {
  return request.method === exchange.method && request.url === exchange.url &&
    areSameFields(request.headers, exchange.fields) &&
    areSameBytes(new Uint8Array(await request.clone().arrayBuffer()), exchange.body ?? new Uint8Array());
}

async function isSameResponse(
  answer: Response,
  forwarded: Response,
  { response, chunks }: RecordedExchange,
): Promise<boolean> {
  if (answer === forwarded) return !answer.bodyUsed;
  return answer.status === response!.status && areSameFields(answer.headers, response!.fields) &&
    areSameBytes(new Uint8Array(await answer.arrayBuffer()), join(chunks));
}

/** Fields that the runtime adds for a body are no change. */
function areSameFields(headers: Headers, fields: readonly [string, string][]): boolean {
  const toText = (all: Iterable<[string, string]>): string =>
    JSON.stringify([...all].filter(([name]) => name !== "content-length"));
  return toText(headers) === toText(fields as [string, string][]);
}

function areSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, position) => byte === other[position]);
}

function join(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let position = 0;
  for (const chunk of chunks) {
    all.set(chunk, position);
    position += chunk.length;
  }
  return all;
}

/** @returns `undefined` after the time limit */
async function withLimit<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout>;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), MAX_ANSWER_MS);
  });
  return await Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

/**
 * A local Lambda: invokes a streaming handler with the events of a function URL (payload format 2.0), and reads its stream
 * as the function URL does. Only tests import this.
 *
 * A stream begins with metadata (status, header fields, cookies) as JSON and eight NUL bytes; the body follows.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { PassThrough } from "node:stream";

type StreamingHandler = (event: object, stream: PassThrough, context: object) => Promise<void>;

/** What `awslambda` is in a function that runs on Node. */
interface Runtime {
  streamifyResponse(handler: StreamingHandler): StreamingHandler;
  readonly HttpResponseStream: { from(stream: PassThrough, metadata: object): PassThrough };
}

/** One invocation's response. */
export interface Invocation {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  /** The parts of the body as they arrived. */
  readonly parts: readonly string[];
  readonly body: string;
}

/** A request to a function URL. */
export interface LambdaRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body?: string | URLSearchParams;
}

const SEPARATOR = "\0".repeat(8);

/** Defines `awslambda`, as the runtime of Lambda does before it imports the handler. */
export function defineRuntime(): void {
  const runtime: Runtime = {
    streamifyResponse: (handler) => handler,
    HttpResponseStream: {
      from(stream, metadata) {
        stream.write(JSON.stringify(metadata) + SEPARATOR);
        return stream;
      },
    },
  };
  Object.assign(globalThis, { awslambda: runtime });
}

/** Sends a request, with the body in base64, as function URLs do for types that are not text. */
export async function invoke(
  handler: StreamingHandler,
  host: string,
  request: LambdaRequest,
): Promise<Invocation> {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise((resolve) => stream.once("end", resolve));
  await handler(toEvent(host, request), stream, {
    awsRequestId: "8a1b",
    callbackWaitsForEmptyEventLoop: true,
  });
  await ended;
  const text = Buffer.concat(chunks).toString();
  const end = text.indexOf(SEPARATOR);
  if (end < 0) throw new Error("The stream has no metadata");
  const { statusCode, headers, cookies = [] } = JSON.parse(text.slice(0, end));
  const body = text.slice(end + SEPARATOR.length);
  return { status: statusCode, headers, cookies, parts: chunks.slice(1).map(String), body };
}

/** The event of a function URL: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html */
function toEvent(host: string, { method = "GET", path, headers = {}, cookies, body }: LambdaRequest): object {
  const [rawPath, rawQueryString = ""] = path.split("?");
  const type = body instanceof URLSearchParams ? { "content-type": "application/x-www-form-urlencoded" } : {};
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath,
    rawQueryString,
    ...(cookies && { cookies }),
    headers: { host, "x-forwarded-proto": "https", "x-forwarded-port": "443", ...type, ...headers },
    requestContext: {
      accountId: "anonymous",
      apiId: "abc",
      domainName: host,
      domainPrefix: "abc",
      http: { method, path: rawPath, protocol: "HTTP/1.1", sourceIp: "203.0.113.7", userAgent: "test" },
      requestId: "id",
      routeKey: "$default",
      stage: "$default",
      time: "12/Mar/2026:19:03:58 +0000",
      timeEpoch: 1773342238000,
    },
    ...(body !== undefined && { body: Buffer.from(String(body)).toString("base64") }),
    isBase64Encoded: body !== undefined,
  };
}

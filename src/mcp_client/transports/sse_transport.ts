/**
 * HTTP+SSE, the transport of 2024-11-05: the server sends everything on one event stream, whose first event names the URL
 * for messages (https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse).
 *
 * @module
 */
import { mediaType } from "../../http/body/media_type.ts";
import { ConnectionError } from "../error.ts";
import { EventParser, EventTooLarge, type ServerEvent } from "./event_parser.ts";
import { readChunks, tooLarge } from "./http_body.ts";
import { discardBody, HttpSender } from "./http_sender.ts";
import { PendingRequests } from "./pending_requests.ts";
import type {
  Channel,
  ClientTransport,
  HttpTransportOptions,
  IncomingResponse,
  OutgoingMessage,
  OutgoingRequest,
  Receiver,
} from "../transport.ts";

/**
 * A server at the URL of its event stream.
 * @throws {TypeError} if the URL is not one of HTTP
 */
export function sseTransport(options: HttpTransportOptions): ClientTransport {
  const sender = new HttpSender(options);
  return {
    name: sender.name,
    kind: "sse",
    open: async (receiver, caller, signal) => {
      const channel = new SseChannel(sender, receiver);
      await channel.open(caller, signal);
      return channel;
    },
  };
}

class SseChannel implements Channel {
  readonly #sender: HttpSender;
  readonly #receiver: Receiver;
  readonly #requests: PendingRequests;
  readonly #closing = new AbortController();
  #endpoint = "";
  #isClosed = false;

  constructor(sender: HttpSender, receiver: Receiver) {
    this.#sender = sender;
    this.#receiver = receiver;
    this.#requests = new PendingRequests(receiver, sender.name);
  }

  /** Opens the stream, and waits for the URL for messages. */
  async open(caller: unknown, stop: AbortSignal): Promise<void> {
    const { signal } = this.#closing;
    const { timeout } = this.#receiver.limits;
    const late = new ConnectionError("timeout", this.#sender.name, "did not open its event stream in time");
    const timer = setTimeout(() => this.#closing.abort(late), timeout);
    const onStop = (): void => this.#closing.abort(stop.reason);
    stop.addEventListener("abort", onStop);
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        this.#connect(caller).then((body) => this.#read(body, resolve)).catch(reject);
      });
    } catch (error) {
      this.#isClosed = true;
      this.#closing.abort(error);
      throw error;
    } finally {
      clearTimeout(timer);
      stop.removeEventListener("abort", onStop);
    }
  }

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    const { method, text, revision, caller, signal } = request;
    return await this.#requests.send(request, () => this.#post({ method, text, revision, caller, signal }));
  }

  async post(message: OutgoingMessage): Promise<void> {
    await this.#post(message);
  }

  close(): Promise<void> {
    this.#end(new ConnectionError("closed", this.#sender.name, "the connection was closed"));
    return Promise.resolve();
  }

  async #connect(caller: unknown): Promise<ReadableStream<Uint8Array>> {
    const { signal } = this.#closing;
    const fields = { accept: "text/event-stream" };
    const response = await this.#sender.send({ method: "GET", fields, caller, signal });
    const { status, body } = response;
    const type = mediaType(response.headers.get("content-type"));
    if (response.ok && type === "text/event-stream" && body) return body;
    discardBody(response);
    const what = response.ok
      ? `answered with the content type "${type}" instead of an event stream`
      : `answered HTTP ${status}. Check the URL`;
    const reason = response.ok ? "malformed" : "status";
    throw new ConnectionError(reason, this.#sender.name, what, { status, mayHaveRun: false });
  }

  /** Reads the stream to its end. Rejects when it ends before the URL is known. */
  async #read(body: ReadableStream<Uint8Array>, onOpen: () => void): Promise<void> {
    const server = this.#sender.name;
    const { messageBytes } = this.#receiver.limits;
    const parser = new EventParser(messageBytes, ({ type, data }: ServerEvent) => {
      if (type === "message") this.#requests.deliver(data);
      else if (type === "endpoint" && this.#endpoint === "") {
        this.#endpoint = this.#readEndpoint(data);
        onOpen();
      }
    });
    let failure: unknown = new ConnectionError("closed", server, "ended its event stream. Connect again");
    try {
      await readChunks(body, server, this.#closing.signal, (chunk) => parser.push(chunk));
    } catch (error) {
      failure = error instanceof EventTooLarge ? tooLarge(server, messageBytes) : error;
    }
    if (this.#endpoint === "") throw failure;
    if (!this.#isClosed) {
      this.#end(failure);
      this.#receiver.closed(failure as Error);
    }
  }

  /** Credentials are sent to this URL, so that it must have the origin of the stream. */
  #readEndpoint(data: string): string {
    const url = URL.canParse(data, this.#sender.url) ? new URL(data, this.#sender.url) : undefined;
    if (url && url.origin === new URL(this.#sender.url).origin) return url.href;
    throw new ConnectionError("malformed", this.#sender.name, "named a URL for messages of another origin");
  }

  async #post({ text, revision, caller, signal = this.#closing.signal }: OutgoingMessage): Promise<void> {
    const fields: Record<string, string> = { "content-type": "application/json" };
    if (revision !== undefined) fields["mcp-protocol-version"] = revision;
    const sent = { method: "POST", url: this.#endpoint, body: text, fields, caller, signal } as const;
    const response = await this.#sender.send(sent);
    discardBody(response);
    if (response.ok) return;
    const { status } = response;
    throw new ConnectionError("status", this.#sender.name, `answered HTTP ${status}`, { status });
  }

  #end(error: unknown): void {
    this.#isClosed = true;
    this.#closing.abort(error);
    this.#requests.fail(error);
  }
}

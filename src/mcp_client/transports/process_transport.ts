/**
 * stdio: a server that runs as a child process, with one JSON message per line
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio).
 *
 * @module
 */
import { ConnectionError } from "../error.ts";
import { tooLarge } from "./http_body.ts";
import { LineSplitter } from "./line_splitter.ts";
import { PendingRequests } from "./pending_requests.ts";
import type {
  Channel,
  ClientTransport,
  IncomingResponse,
  Launch,
  LaunchedProcess,
  OutgoingMessage,
  OutgoingRequest,
  Receiver,
} from "../transport.ts";

/** Lines of standard output that are not JSON, such as greetings, before the server is stopped. */
const MAX_STRAY_LINES = 100;
/** Messages that answer no request, in a period, before the server is stopped. */
const MAX_UNASKED_MESSAGES = 20_000;
const PERIOD_MS = 10_000;
/** Characters that wait for a process that does not read its input. */
const MAX_WAITING_CHARACTERS = 16 * 1024 * 1024;

/** A server that is started as a process, with `launchProcess`. */
export function processTransport(launch: Launch): ClientTransport {
  return {
    name: launch.name,
    kind: "stdio",
    open: (receiver) => Promise.resolve(new ProcessChannel(launch, receiver)),
  };
}

class ProcessChannel implements Channel {
  readonly #name: string;
  readonly #receiver: Receiver;
  readonly #requests: PendingRequests;
  readonly #launched: LaunchedProcess;
  readonly #lines: LineSplitter;
  #ended: Error | undefined;
  #strayLines = 0;
  #unasked = 0;
  #periodBegan = 0;
  #waiting = 0;

  constructor(launch: Launch, receiver: Receiver) {
    this.#name = launch.name;
    this.#receiver = receiver;
    this.#requests = new PendingRequests(receiver, launch.name);
    this.#lines = new LineSplitter(receiver.limits.messageBytes, (line) => this.#readLine(line));
    this.#launched = launch.start({
      onOutput: (chunk) => {
        if (!this.#ended && !this.#lines.push(chunk)) {
          this.#fail(tooLarge(this.#name, receiver.limits.messageBytes));
        }
      },
      onExit: (description, cause) => {
        if (this.#ended) return;
        this.#lines.end();
        const reason = cause ? "unreachable" : "closed";
        this.#fail(new ConnectionError(reason, this.#name, description, { cause, mayHaveRun: !cause }));
      },
    });
  }

  send(request: OutgoingRequest): Promise<IncomingResponse> {
    if (this.#ended) return Promise.reject(this.#notSent());
    return this.#requests.send(request, () => this.#write(request.text));
  }

  async post({ text }: OutgoingMessage): Promise<void> {
    if (this.#ended) throw this.#notSent();
    await this.#write(text);
  }

  async close(): Promise<void> {
    this.#ended ??= new ConnectionError("closed", this.#name, "the connection was closed");
    this.#requests.fail(this.#ended);
    await this.#launched.stop();
  }

  #readLine(line: string): void {
    if (this.#ended) return;
    if (!line.trimStart().startsWith("{") && !line.trimStart().startsWith("[")) {
      if (++this.#strayLines > MAX_STRAY_LINES) {
        const what = "writes text that is not JSON to standard output. Logs belong to standard error";
        this.#fail(new ConnectionError("malformed", this.#name, what));
      }
      return;
    }
    try {
      if (this.#requests.deliver(line) > 0) this.#unasked = 0;
      else this.#countUnasked();
    } catch (error) {
      // A line that only looks like JSON is as harmless as other text.
      if (++this.#strayLines > MAX_STRAY_LINES) this.#fail(error as Error);
    }
  }

  #countUnasked(): void {
    const now = performance.now();
    if (now - this.#periodBegan > PERIOD_MS) {
      this.#periodBegan = now;
      this.#unasked = 0;
    }
    if (++this.#unasked > MAX_UNASKED_MESSAGES) {
      const what = `sent more than ${MAX_UNASKED_MESSAGES} messages that answer no request`;
      this.#fail(new ConnectionError("too_large", this.#name, what));
    }
  }

  #write(text: string): Promise<void> | undefined {
    if (this.#waiting + text.length > MAX_WAITING_CHARACTERS) {
      const what = "does not read its standard input";
      return Promise.reject(new ConnectionError("closed", this.#name, what, { mayHaveRun: false }));
    }
    const written = this.#launched.write(text + "\n");
    if (!written) return undefined;
    this.#waiting += text.length;
    return written.finally(() => this.#waiting -= text.length).catch((cause) => {
      throw this.#ended ?? new ConnectionError("closed", this.#name, "closed its standard input", { cause });
    });
  }

  #fail(error: Error): void {
    this.#ended = error;
    this.#requests.fail(error);
    this.#launched.stop(true).catch(() => {});
    this.#receiver.closed(error);
  }

  #notSent(): ConnectionError {
    const what = "the process has ended. Connect again";
    return new ConnectionError("closed", this.#name, what, { cause: this.#ended, mayHaveRun: false });
  }
}

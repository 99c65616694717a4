/**
 * A client of a compared server over its standard input and output.
 *
 * @module
 */
import type { ServerProcess } from "../server_process.ts";
import { LEGACY, META, MODERN, toExpectedText, toParams, Unsupported } from "../wire.ts";

const RESPONSE_TIMEOUT_MS = 5000;
export type Method = "initialize" | "tools/list" | "tools/call";

export class StdioClient {
  readonly server: ServerProcess;
  readonly #pending = new Map<
    number,
    { resolve(line: string): void; reject(error: Error): void }
  >();
  #lastId = 0;
  #rest = "";

  constructor(server: ServerProcess) {
    this.server = server;
    const { stdout, stdin } = server.process;
    stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop()!;
      for (const line of lines) {
        const id = Number(/"id":(\d+)/.exec(line)?.[1]);
        this.#pending.get(id)?.resolve(line);
        this.#pending.delete(id);
      }
    });
    stdin!.on("error", () => {});
    server.process.once("exit", () => {
      for (const { reject } of this.#pending.values()) {
        reject(new Unsupported("the server does not support stdio"));
      }
    });
  }

  /** Sends a request; resolves to the line of the response. */
  request(method: string, params: Record<string, unknown>): Promise<string> {
    const id = ++this.#lastId;
    this.server.process.stdin!.write(
      JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n",
    );
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  /** Initializes the session, if the revision has one, and checks a response. */
  async initialize(
    revision: string,
    method: Method,
    tools: number,
  ): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) =>
      timer = setTimeout(
        () =>
          reject(
            new Unsupported(`no response within ${RESPONSE_TIMEOUT_MS} ms`),
          ),
        RESPONSE_TIMEOUT_MS,
      )
    );
    const checkResponse = async () => {
      const meta = revision === MODERN ? { _meta: META } : {};
      if (revision === LEGACY) {
        await this.request("initialize", toParams("initialize", tools));
        this.server.process.stdin!.write(
          '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
        );
      }
      const line = await this.request(method, {
        ...toParams(method, tools),
        ...meta,
      });
      if (
        !line.includes(toExpectedText(method, tools)) ||
        revision === MODERN && !line.includes("resultType")
      ) {
        throw new Unsupported(`unexpected response: ${line.slice(0, 200)}`);
      }
    };
    try {
      await Promise.race([checkResponse(), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}

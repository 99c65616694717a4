/**
 * A running Skills service with an API key, for tests with clients of other projects. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../../events.ts";
import type { RequestContext } from "../../http/service.ts";
import { createTrivet, memoryStore, type SkillsOptions, type Store, type Trivet } from "../../mod.ts";
import { createApiKey } from "../../skills/api_key.ts";
import { readZip } from "../../skills/archive/zip_reader.ts";
import { entries } from "../test_entries.ts";

export interface SkillsServer {
  readonly url: string;
  readonly store: Store;
  /** Of an API key of the workspace `default` that may do everything. */
  readonly key: string;
  /** The requests so far. */
  readonly seen: Request[];
  readonly events: readonly TrivetEvent[];
  /** Stops it. @throws {Error} when there was a fault */
  close(): Promise<void>;
}

export interface SkillsServerOptions extends SkillsOptions {
  readonly store?: Store;
  /** Answers instead of the server, as a proxy in front would; `undefined` passes the request on. */
  readonly before?: (request: Request) => Response | undefined;
}

/** Starts one on a free port, over the memory store unless another is given, by this runtime's own entry. */
export async function startSkills(options: SkillsServerOptions = {}): Promise<SkillsServer> {
  const { store = memoryStore(), before, ...skills } = options;
  const seen: Request[] = [];
  const events: TrivetEvent[] = [];
  const errors: unknown[] = [];
  let answer: Trivet["fetch"] = () => Promise.reject(new Error("The server is not ready"));
  let last = 0;
  const handler = {
    fetch(request: Request, context?: RequestContext): Response | Promise<Response> {
      // Only the head: the server reads the body.
      seen.push(new Request(request.url, { method: request.method, headers: request.headers }));
      return before?.(request) ?? answer(request, context);
    },
  };
  const serve = Object.values(entries)[0]!;
  const server = await serve(handler, { port: 0, onError: (error) => errors.push(error) });
  const trivet = createTrivet({
    issuer: server.url,
    store,
    oauth: false,
    mcp: false,
    // A page of a client, which may call although the server is on loopback.
    allowedOrigins: ["https://app.example"],
    skills,
    // Each reading of the clock is later than the one before, so that lists have a defined order.
    now: () => last = Math.max(last + 1, Date.now()),
    onEvent: (event) => events.push(event),
  });
  answer = trivet.fetch;
  const { secret } = await createApiKey(store, { name: "test" });
  return {
    url: server.url,
    store,
    key: secret,
    seen,
    events,
    async close() {
      await server.close();
      assert.equal([...errors, ...events.filter(({ type }) => type === "fault")], []);
    },
  };
}

/** SKILL.md of a skill of this name. */
export function skillMarkdown(name: string, description = `Does ${name}. Use it in tests.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n\nDo it well.\n`;
}

/** The error that a client threw. */
export async function refusal(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("the request was not refused");
}

/** A time in ISO 8601, UTC. */
export const TIME: RegExp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The files of a downloaded archive, by their paths in it. */
export async function unpack(archive: Response | Uint8Array): Promise<Map<string, Uint8Array>> {
  const bytes = archive instanceof Response ? new Uint8Array(await archive.arrayBuffer()) : archive;
  const files = await readZip(bytes, 8 * 1024 * 1024);
  return new Map(files.map(({ path, bytes }) => [path, bytes]));
}

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
  /** An API key of the workspace `default` with all scopes. */
  readonly key: string;
  /** The requests so far. */
  readonly seen: Request[];
  readonly events: readonly TrivetEvent[];
  /** Stops the server. @throws {Error} when a fault was reported */
  close(): Promise<void>;
}

export interface SkillsServerOptions extends SkillsOptions {
  readonly store?: Store;
  /** The response of a proxy in front of the server; `undefined` forwards the request. */
  readonly before?: (request: Request) => Response | undefined;
}

/** Starts a service on a free port, with a memory store by default. */
export async function startSkills(options: SkillsServerOptions = {}): Promise<SkillsServer> {
  const { store = memoryStore(), before, ...skills } = options;
  const seen: Request[] = [];
  const events: TrivetEvent[] = [];
  const errors: unknown[] = [];
  let answer: Trivet["fetch"] = () => Promise.reject(new Error("The server is not ready"));
  let last = 0;
  const handler = {
    fetch(request: Request, context?: RequestContext): Response | Promise<Response> {
      // Without the body, which the server reads.
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
    // The origin of a browser client: on loopback others are refused.
    allowedOrigins: ["https://app.example"],
    skills,
    // The clock advances at each call, so that lists have a defined order.
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

/** The error with which a promise rejects. @throws {Error} when it resolves */
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

/** The files of a downloaded archive by path. */
export async function unpack(archive: Response | Uint8Array): Promise<Map<string, Uint8Array>> {
  const bytes = archive instanceof Response ? new Uint8Array(await archive.arrayBuffer()) : archive;
  const files = await readZip(bytes, 8 * 1024 * 1024);
  return new Map(files.map(({ path, bytes }) => [path, bytes]));
}

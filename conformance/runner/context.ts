/**
 * The state of one vector while it runs: variables, cookie jars, open streams, a process and the recorded
 * exchanges. It is discarded after the vector.
 *
 * @module
 */
import type { CookieJar } from "./exchange/cookie_jar.ts";
import type { EventReader } from "./exchange/event_reader.ts";
import type { OpenResponse, Sender } from "./exchange/exchange.ts";
import type { StdioServer } from "./exchange/send_stdio.ts";
import type { Target } from "./target/target.ts";
import type { Variables } from "./vector/template.ts";
import type { View } from "./vector/view.ts";
import type { JsonObject } from "./vector/vector_file.ts";

/** One exchange as text for reports. Long bodies are cut. */
export interface Exchange {
  readonly step: string;
  readonly request: string;
  readonly answer: string;
}

export interface OpenStream {
  readonly response: OpenResponse;
  readonly reader: EventReader;
  /** Events that have arrived and that no step has read. */
  readonly unread: JsonObject[];
}

export interface VectorContext {
  readonly target: Target;
  /** Name of the vector, suite included. */
  readonly name: string;
  readonly seed: string;
  /** Whether the members `answer`, `answers` and `echo` are allowed. */
  readonly isSelf: boolean;
  /** How long a step may really wait where the target has no clock procedure. */
  readonly maxWaitSeconds: number;
  readonly variables: Variables;
  readonly jars: Map<string, CookieJar>;
  readonly streams: Map<string, OpenStream>;
  readonly exchanges: Exchange[];
  stdio: StdioServer | undefined;
  /** The sender of a step with `answers`. */
  script?: Sender | undefined;
  /** The view of the last step. */
  last: View;
}

/** Creates the context of one vector. */
export function createContext(
  name: string,
  { target, seed, maxWaitSeconds }: Pick<VectorContext, "target" | "seed" | "maxWaitSeconds">,
  isSelf: boolean = false,
): VectorContext {
  return {
    target,
    seed,
    maxWaitSeconds,
    name,
    isSelf,
    variables: structuredClone(target.variables) as Record<string, unknown>,
    jars: new Map(),
    streams: new Map(),
    exchanges: [],
    stdio: undefined,
    last: {},
  };
}

/** The time of the target's clock, in seconds since the epoch. */
export function targetTime({ target }: VectorContext): number {
  return Date.now() / 1000 + target.advanced;
}

/** Closes the streams and the process that a vector left open. */
export async function closeContext(context: VectorContext): Promise<void> {
  for (const { response: answer } of context.streams.values()) answer.cancel();
  await context.stdio?.kill();
}

/**
 * What one vector has of its own while it runs: variables, cookie jars, open streams, a process, a record of what was
 * said. Nothing of it outlives the vector.
 *
 * @module
 */
import type { CookieJar } from "./exchange/cookie_jar.ts";
import type { EventReader } from "./exchange/event_reader.ts";
import type { OpenAnswer } from "./exchange/exchange.ts";
import type { StdioServer } from "./exchange/send_stdio.ts";
import type { Target } from "./target/target.ts";
import type { Variables } from "./vector/template.ts";
import type { View } from "./vector/view.ts";
import type { Members } from "./vector/vector_file.ts";

/** One exchange as it is shown: texts, bodies cut. */
export interface Exchange {
  readonly step: string;
  readonly request: string;
  readonly answer: string;
}

export interface OpenStream {
  readonly answer: OpenAnswer;
  readonly reader: EventReader;
  /** Events that arrived with others and were not read yet. */
  readonly waiting: Members[];
}

export interface World {
  readonly target: Target;
  /** Name of the vector, suite included. */
  readonly name: string;
  readonly seed: string;
  /** Whether `answer` and `echo` mean anything. */
  readonly isSelf: boolean;
  /** Seconds of real waiting that the run allows where the target has no clock. */
  readonly mostWaiting: number;
  readonly variables: Variables;
  readonly jars: Map<string, CookieJar>;
  readonly streams: Map<string, OpenStream>;
  readonly exchanges: Exchange[];
  stdio: StdioServer | undefined;
  /** The view of the last step. */
  last: View;
}

/** An empty world. */
export function newWorld(
  name: string,
  { target, seed, mostWaiting }: Pick<World, "target" | "seed" | "mostWaiting">,
  isSelf: boolean = false,
): World {
  return {
    target,
    seed,
    mostWaiting,
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

/** Seconds since the epoch, by the target's clock. */
export function nowOf({ target }: World): number {
  return Date.now() / 1000 + target.advanced;
}

/** Ends whatever a vector left open. */
export async function leave(world: World): Promise<void> {
  for (const { answer } of world.streams.values()) answer.cancel();
  await world.stdio?.kill();
}

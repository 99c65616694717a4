/**
 * The server under test, as vectors use it.
 *
 * @module
 */
import type { Limits, Sender } from "../exchange/exchange.ts";
import type { StdioCommand, StdioProgram } from "../exchange/send_stdio.ts";
import type { Procedure, TargetDescription } from "./target_description.ts";
import type { JsonObject } from "../vector/vector_file.ts";

export interface Target {
  readonly name: string;
  readonly version: string | undefined;
  readonly base: string;
  readonly origins: ReadonlySet<string>;
  readonly features: ReadonlySet<string>;
  readonly variables: JsonObject;
  readonly procedures: ReadonlyMap<string, Procedure>;
  readonly sendHeaders: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly jobs: number;
  readonly deviations: Readonly<Record<string, string>>;
  /** Absent for a server on stdio. */
  readonly sender: Sender | undefined;
  readonly stdio: StdioCommand | StdioProgram | undefined;
  /** URL of its metadata. */
  readonly discovered?: string;
  /** The detected features as text, if none are declared. */
  readonly notes?: readonly string[];
  /** Why the target accepted no connection when its features were detected. */
  readonly refusal?: string;
  /** Seconds by which the clock of the target was moved forward. */
  advanced: number;
  close(): Promise<void>;
}

/** A target without a server, for the vectors of `self/`. */
export function createSelfTarget(): Target {
  return toTarget(
    { name: "none", base: "http://self.example", features: ["http"] },
    undefined,
    () => Promise.resolve(),
  );
}

/** Fills `{{base}}` in endpoints and variables. Vectors fill other templates. */
function fillBase({ endpoints = {}, vars = {} }: TargetDescription, base: string): {
  readonly endpoints: Readonly<Record<string, string>>;
  readonly vars: JsonObject;
} {
  const written = JSON.stringify(base.replace(/\/$/, "")).slice(1, -1);
  return JSON.parse(JSON.stringify({ endpoints, vars }).replaceAll("{{base}}", written));
}

/** The limits of an exchange, with defaults. */
export function getLimits({ limits = {} }: TargetDescription): Limits {
  return { seconds: limits.seconds ?? 10, bytes: limits.bytes ?? 16 << 20 };
}

/** Creates the target of a description. */
export function toTarget(
  described: TargetDescription,
  sender: Sender | undefined,
  close: () => Promise<void>,
): Target {
  const { base = "http://stdio.example", procedures = {}, stdio } = described;
  const description = { ...described, ...fillBase(described, base) };
  const { endpoints } = description;
  const features = new Set(description.features ?? []);
  if (stdio) features.add("stdio");
  else features.add("http");
  if (sender && !description.module) features.add("raw");
  for (const name of Object.keys(procedures)) features.add(`procedure:${name}`);
  if ("advance" in procedures) features.add("clock");
  const origins = [
    base,
    ...description.origins ?? [],
    ...(description.module ? Object.values(endpoints) : []),
  ];
  return {
    name: description.name ?? base,
    version: description.version,
    base,
    origins: new Set(origins.flatMap((each) => URL.parse(each, base)?.origin ?? [])),
    features,
    variables: { base, endpoints, ...description.vars },
    procedures: new Map(Object.entries(procedures)),
    sendHeaders: description.send_headers ?? {},
    limits: getLimits(description),
    jobs: description.limits?.jobs ?? 4,
    deviations: description.deviations ?? {},
    sender,
    stdio,
    advanced: 0,
    close,
  };
}

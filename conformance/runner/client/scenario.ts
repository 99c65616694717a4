/**
 * Scenarios as data (`clients/scenario.schema.json`): one deviation of the server, and what a correct client does about it.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { getStrongest, type Strength } from "../outcome.ts";
import { LoadError, type Requirements, type Row } from "../vector/load.ts";

/** How a client ends: it uses what the server sent, or refuses it. */
export type Ending = "accepted" | "refused";

/** One difference from the correct response. */
export interface Deviation {
  /** Endpoint or JSON-RPC method, as requests are recorded. */
  readonly at: string;
  /** Which request to it, counted from 1. @default every one */
  readonly nth?: number;
  /** New values, by dotted path in the correct response. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** Dotted paths of members to leave out. */
  readonly remove?: readonly string[];
  /** The complete body. */
  readonly body?: string;
  /** JSON-RPC messages before the response, on an event stream. */
  readonly before?: readonly unknown[];
  /** Events that end before the response, which is sent to the client that resumes the stream. */
  readonly interrupted?: boolean;
  /** The connection closes in the middle of the body. */
  readonly cut?: boolean;
  /** Answers a cancelled call after its cancellation. */
  readonly late?: boolean;
}

/** A check of the requests that the server received at one endpoint. */
export interface RequestCheck {
  readonly at: string;
  /** Only this request, counted from 1. */
  readonly nth?: number;
  /** Only requests that match this pattern. */
  readonly where?: unknown;
  /** How many there are. @default at least one */
  readonly count?: unknown;
  /** The pattern that each of them matches. */
  readonly expect?: unknown;
  /** A dotted path whose values differ from request to request. */
  readonly distinct?: string;
}

export interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly covers: readonly string[];
  readonly flags?: readonly string[];
  /** What the client must implement itself. */
  readonly needs?: readonly string[];
  readonly flow?: string;
  readonly client?: Readonly<Record<string, string>>;
  /** How often the driver runs against the same server. @default 1 */
  readonly runs?: number;
  readonly deviations?: readonly Deviation[];
  readonly expect: { readonly ends?: Ending; readonly requests?: readonly RequestCheck[] };
}

export interface ScenarioFile {
  readonly format: number;
  readonly suite: string;
  readonly title: string;
  readonly flow: string;
  readonly scenarios: readonly Scenario[];
}

/** A scenario with its suite, flow and rows. */
export interface LoadedScenario {
  /** Suite and id: `oauth/callback/state-of-another`. */
  readonly name: string;
  readonly suite: string;
  readonly flow: string;
  readonly scenario: Scenario;
  readonly rows: readonly Row[];
  readonly strength: Strength;
}

/** What some clients leave to the application, or do not implement. */
export const NEEDS = ["state", "pkce", "iss", "callback"] as const;

/** Suites of scenarios. */
export const SUITES = ["oauth", "mcp", "skills"] as const;

/** @param root of the kit @param suites names of suites, or `all` @throws {LoadError} */
export function loadScenarios(
  root: string,
  suites: readonly string[],
  { rows }: Requirements,
): LoadedScenario[] {
  const unknown = suites.find((suite) => suite !== "all" && !(SUITES as readonly string[]).includes(suite));
  if (unknown !== undefined) {
    throw new LoadError(`Unknown suite "${unknown}". Suites for clients: ${SUITES.join(", ")}, all.`);
  }
  const all: LoadedScenario[] = [];
  const seen = new Set<string>();
  for (const path of globSync(join(root, "clients/scenarios/*.json")).sort()) {
    const file = JSON.parse(readFileSync(path, "utf8")) as ScenarioFile;
    if (file.format !== 1) throw new LoadError(`${path}: unsupported format ${file.format}; use 1`);
    if (!suites.includes("all") && !suites.includes(file.suite)) continue;
    for (const scenario of file.scenarios) {
      const name = `${file.suite}/${scenario.id}`;
      const refuse = (why: string): never => {
        throw new LoadError(`Invalid scenario "${name}" in ${path}: ${why}`);
      };
      if (seen.has(name)) refuse("duplicate id");
      seen.add(name);
      if (!scenario.id.startsWith(`${basename(path, ".json").replace(`${file.suite}_`, "")}/`)) {
        refuse("the id must begin with the name of the file");
      }
      const covered = scenario.covers.map((id) => {
        const row = rows.get(id) ?? refuse(`"${id}" is not a requirement row`);
        return row.binds?.includes("client") ? row : refuse(`"${id}" does not bind clients`);
      });
      if (covered.length === 0) refuse("covers no row");
      const { flow = file.flow } = scenario;
      all.push({ name, suite: file.suite, flow, scenario, rows: covered, strength: getStrongest(covered) });
    }
  }
  return all;
}

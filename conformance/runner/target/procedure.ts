/**
 * What no standard defines and a target brings along: signing in, allowing, moving the clock on (`FORMAT.md` section 9).
 *
 * @module
 */
import { jarOf } from "../exchange/ask_http.ts";
import { askPerson } from "./ask_person.ts";
import type { Kept } from "../exchange/cookie_jar.ts";
import { within } from "../exchange/exchange.ts";
import { execute, type Program } from "./execute.ts";
import { KitError, NotClaimed, Unexpected, Unfinished } from "../outcome.ts";
import { fill } from "../vector/template.ts";
import { isMembers, type Members, type Step } from "../vector/vector_file.ts";
import { readRedirect } from "../vector/view.ts";
import { isPageWalk, walk, whereItStands } from "./walk.ts";
import type { World } from "../world.ts";

const FUNCTION_SECONDS = 60;
/** Procedures that leave `answer`. */
const ANSWERING: ReadonlySet<string> = new Set(["authorize", "deny"]);

type RunStep = (step: Step, world: World) => Promise<void>;

/**
 * Runs a procedure in the vector's own variables.
 * @param runStep runs one step, for procedures that are steps
 */
export async function callProcedure(name: string, world: World, runStep: RunStep): Promise<void> {
  const { variables } = world;
  if (!world.target.procedures.has(name)) throw new NotClaimed(`procedure:${name}`);
  // What an earlier call left is not the answer of this one.
  if (ANSWERING.has(name)) { for (const left of ["answer", "code"]) delete variables[left]; }
  try {
    await run(name, world, runStep);
  } catch (error) {
    // It is the target that brings procedures along, not the kit.
    throw error instanceof KitError
      ? new Unfinished(`The procedure "${name}" failed: ${error.message}`, { cause: error })
      : error;
  }
  if (!ANSWERING.has(name)) return;
  if (typeof variables["answer"] === "string") {
    variables["answer"] = readRedirect(variables["answer"], world.target.base);
  }
  const { answer } = variables;
  if (!isMembers(answer) && variables["code"] === undefined) {
    const why = `The procedure "${name}" did not lead back to the client (it leaves no "answer"): ${
      whereItStands(world)
    }`;
    // A refusal is an answer of the server; a page that asks on is one that the procedure did not understand.
    throw Number(world.last["status"]) >= 400 ? new Unexpected(why) : new Unfinished(why);
  }
  const code = isMembers(answer) && isMembers(answer["query"]) ? answer["query"]["code"] : undefined;
  if (code !== undefined) variables["code"] ??= code;
}

async function run(name: string, world: World, runStep: RunStep): Promise<void> {
  const { variables } = world;
  const procedure = world.target.procedures.get(name)!;
  // Only steps have answers: what was seen before is not what a program or a person did.
  if (!Array.isArray(procedure)) world.last = {};
  const refused = (error: unknown) =>
    new Unexpected(`The procedure "${name}" failed: ${error instanceof Error ? error.message : error}`);
  if (typeof procedure === "function") {
    try {
      const captured = Promise.resolve(procedure(variables));
      Object.assign(variables, await within(captured, FUNCTION_SECONDS, "Its end"));
    } catch (error) {
      throw refused(error);
    }
  } else if (Array.isArray(procedure)) {
    for (const step of procedure as readonly Step[]) await runStep(step, world);
  } else if ("exec" in procedure) {
    const { exec: _, cwd: __, seconds: ___, stays: ____, ...rest } = procedure as Program;
    const page = fill(rest, variables);
    const cookies = jarOf(world, "browser").list();
    const input = { ...variables, ...authorizationUrl(variables), procedure: name, page, cookies };
    try {
      take(await execute(procedure as Program, input), world);
    } catch (error) {
      throw error instanceof Unexpected ? refused(error) : error;
    }
  } else if (isPageWalk(procedure)) {
    try {
      await walk(fill(procedure, variables) as typeof procedure, world, runStep);
    } catch (error) {
      throw error instanceof Unexpected ? refused(error) : error;
    }
    if (ANSWERING.has(name)) variables["answer"] = world.last["redirect"];
  } else if ("cookies" in procedure) {
    take(fill(procedure, variables) as Members, world);
  } else {
    const { ask, capture } = procedure as { ask: string; capture: string };
    const question = String(fill(ask, { ...variables, ...authorizationUrl(variables) }));
    take({ [capture]: await askPerson(question) }, world);
  }
}

/** Captures become variables; `cookies`, by name or as a list, go into the jar `browser`. */
function take({ cookies, ...captured }: Members, world: World): void {
  Object.assign(world.variables, captured);
  const jar = jarOf(world, "browser");
  const { hostname } = new URL(world.target.base);
  for (const cookie of cookiesOf(cookies)) {
    jar.put({
      host: String(cookie.host ?? hostname),
      path: String(cookie.path ?? "/"),
      name: String(cookie.name),
      value: String(cookie.value),
    });
  }
}

function cookiesOf(cookies: unknown): Partial<Kept>[] {
  if (Array.isArray(cookies)) return cookies.filter(isMembers);
  // As a person copies it from a browser: "a=1; b=2".
  if (typeof cookies === "string") {
    return cookies.replace(/^cookie:\s*/i, "").split(/;\s*/).filter((pair) => pair.includes("=")).map((
      pair,
    ) => ({
      name: pair.slice(0, pair.indexOf("=")).trim(),
      value: pair.slice(pair.indexOf("=") + 1).trim(),
    }));
  }
  return isMembers(cookies)
    ? Object.entries(cookies).map(([name, value]) => ({ name, value: String(value) }))
    : [];
}

/** `url`: where a browser goes to ask for what `query` says. */
function authorizationUrl({ endpoints, query, base }: Members): Members {
  const endpoint = isMembers(endpoints) ? endpoints["authorization"] : undefined;
  if (typeof endpoint !== "string" || !isMembers(query)) return {};
  const url = new URL(endpoint, String(base));
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value ?? []].flat()) url.searchParams.append(name, String(each));
  }
  return { url: url.href };
}

/**
 * Runs the procedures of a target: sign-in, consent, moving the clock, which no standard defines
 * (`FORMAT.md` section 9).
 *
 * @module
 */
import { getJar } from "../exchange/http_steps.ts";
import { askPerson } from "./ask_person.ts";
import type { JarCookie } from "../exchange/cookie_jar.ts";
import { withTimeout } from "../exchange/exchange.ts";
import { type Program, runProgram } from "./execute.ts";
import { ExpectationFailed, KitError, NotClaimed, ProcedureFailed } from "../outcome.ts";
import { fillTemplates } from "../vector/template.ts";
import { isJsonObject, type JsonObject, type Step } from "../vector/vector_file.ts";
import { toRedirect } from "../vector/view.ts";
import { describeLastPage, isPageWalk, walkPages } from "./page_walk.ts";
import type { VectorContext } from "../context.ts";

const MAX_FUNCTION_SECONDS = 60;
/** Procedures that end with a redirect to the client, the variable `answer`. */
const REDIRECTING: ReadonlySet<string> = new Set(["authorize", "deny"]);

type RunStep = (step: Step, context: VectorContext) => Promise<void>;

/**
 * Runs a procedure in the vector's own variables.
 * @param runStep runs one step, for procedures that are steps
 */
export async function callProcedure(name: string, context: VectorContext, runStep: RunStep): Promise<void> {
  const { variables } = context;
  if (!context.target.procedures.has(name)) throw new NotClaimed(`procedure:${name}`);
  // Variables of an earlier call must not count for this one.
  if (REDIRECTING.has(name)) { for (const left of ["answer", "code"]) delete variables[left]; }
  try {
    await runProcedure(name, context, runStep);
  } catch (error) {
    // Procedures belong to the target, so their errors are not faults of the kit.
    throw error instanceof KitError
      ? new ProcedureFailed(`The procedure "${name}" failed: ${error.message}`, { cause: error })
      : error;
  }
  if (!REDIRECTING.has(name)) return;
  if (typeof variables["answer"] === "string") {
    variables["answer"] = toRedirect(variables["answer"], context.target.base);
  }
  const { answer } = variables;
  if (!isJsonObject(answer) && variables["code"] === undefined) {
    const why = `The procedure "${name}" did not reach the redirect URI (no "answer"): ${
      describeLastPage(context)
    }`;
    // An error status is a refusal by the server. On any other page, the procedure stopped too early.
    throw Number(context.last["status"]) >= 400 ? new ExpectationFailed(why) : new ProcedureFailed(why);
  }
  const code = isJsonObject(answer) && isJsonObject(answer["query"]) ? answer["query"]["code"] : undefined;
  if (code !== undefined) variables["code"] ??= code;
}

async function runProcedure(name: string, context: VectorContext, runStep: RunStep): Promise<void> {
  const { variables } = context;
  const procedure = context.target.procedures.get(name)!;
  // Only steps have responses. An earlier response must not count for a program or a person.
  if (!Array.isArray(procedure)) context.last = {};
  const refused = (error: unknown) =>
    new ExpectationFailed(
      `The procedure "${name}" failed: ${error instanceof Error ? error.message : error}`,
    );
  if (typeof procedure === "function") {
    try {
      const captured = Promise.resolve(procedure(variables));
      Object.assign(variables, await withTimeout(captured, MAX_FUNCTION_SECONDS, "The procedure"));
    } catch (error) {
      throw refused(error);
    }
  } else if (Array.isArray(procedure)) {
    for (const step of procedure as readonly Step[]) await runStep(step, context);
  } else if ("exec" in procedure) {
    const { exec: _, cwd: __, seconds: ___, stays: ____, ...rest } = procedure as Program;
    const page = fillTemplates(rest, variables);
    const cookies = getJar(context, "browser").listCookies();
    const input = { ...variables, ...authorizationUrl(variables), procedure: name, page, cookies };
    try {
      applyCaptures(await runProgram(procedure as Program, input), context);
    } catch (error) {
      throw error instanceof ExpectationFailed ? refused(error) : error;
    }
  } else if (isPageWalk(procedure)) {
    try {
      await walkPages(fillTemplates(procedure, variables) as typeof procedure, context, runStep);
    } catch (error) {
      throw error instanceof ExpectationFailed ? refused(error) : error;
    }
    if (REDIRECTING.has(name)) variables["answer"] = context.last["redirect"];
  } else if ("cookies" in procedure) {
    applyCaptures(fillTemplates(procedure, variables) as JsonObject, context);
  } else {
    const { ask, capture } = procedure as { ask: string; capture: string };
    const question = String(fillTemplates(ask, { ...variables, ...authorizationUrl(variables) }));
    applyCaptures({ [capture]: await askPerson(question) }, context);
  }
}

/** Stores captures as variables, and `cookies` in the jar `browser`. */
function applyCaptures({ cookies, ...captured }: JsonObject, context: VectorContext): void {
  Object.assign(context.variables, captured);
  const jar = getJar(context, "browser");
  const { hostname } = new URL(context.target.base);
  for (const cookie of parseCookies(cookies)) {
    jar.setCookie({
      host: String(cookie.host ?? hostname),
      path: String(cookie.path ?? "/"),
      name: String(cookie.name),
      value: String(cookie.value),
    });
  }
}

function parseCookies(cookies: unknown): Partial<JarCookie>[] {
  if (Array.isArray(cookies)) return cookies.filter(isJsonObject);
  // The form that browsers show: "a=1; b=2".
  if (typeof cookies === "string") {
    return cookies.replace(/^cookie:\s*/i, "").split(/;\s*/).filter((pair) => pair.includes("=")).map((
      pair,
    ) => ({
      name: pair.slice(0, pair.indexOf("=")).trim(),
      value: pair.slice(pair.indexOf("=") + 1).trim(),
    }));
  }
  return isJsonObject(cookies)
    ? Object.entries(cookies).map(([name, value]) => ({ name, value: String(value) }))
    : [];
}

/** `url`: the authorization endpoint with the parameters of `query`. */
function authorizationUrl({ endpoints, query, base }: JsonObject): JsonObject {
  const endpoint = isJsonObject(endpoints) ? endpoints["authorization"] : undefined;
  if (typeof endpoint !== "string" || !isJsonObject(query)) return {};
  const url = new URL(endpoint, String(base));
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value ?? []].flat()) url.searchParams.append(name, String(each));
  }
  return { url: url.href };
}

/**
 * Runs one step: `let`, the action, `expect`, `capture`, in this order (`FORMAT.md` section 2).
 *
 * @module
 */
import { closeStream, getJar, readStream, sendRequests } from "./exchange/http_steps.ts";
import { endInput, sendMessages } from "./exchange/rpc_steps.ts";
import { utf8 } from "./exchange/bytes.ts";
import { compute } from "./vector/compute.ts";
import { scriptedSender, toBreak, toFields } from "./exchange/send_scripted.ts";
import { expectViews, toPattern } from "./vector/expect.ts";
import { findMismatch } from "./vector/match.ts";
import { ExpectationFailed, KitError, NotClaimed, ProcedureFailed } from "./outcome.ts";
import { callProcedure } from "./target/procedure.ts";
import { fillTemplates } from "./vector/template.ts";
import { toTimerMs } from "./exchange/timer.ts";
import { isJsonObject, type JsonObject, type Step } from "./vector/vector_file.ts";
import { readCapture, toView, type View } from "./vector/view.ts";
import { targetTime, type VectorContext } from "./context.ts";

/** @throws {ExpectationFailed | KitError | NotClaimed} */
export async function runStep(step: Step, context: VectorContext): Promise<void> {
  const { variables, seed, name } = context;
  if (
    step.when && await findMismatch(toPattern(fillTemplates(step.when, variables)), context.last, variables)
  ) return;
  const computeContext = { seed: `${seed}/${name}`, now: () => targetTime(context) };
  await compute(step.let, variables, computeContext);
  const views = step.answers
    ? await runScripted(step, step.answers, context, computeContext)
    : await runAction(step, context, computeContext);
  const expected = step.expect && fillTemplates(step.expect, variables) as JsonObject;
  if (views.length === 0) {
    if (!expected && !step.capture) return;
    views.push(context.last);
  }
  context.last = views[0]!;
  const view = await expectViews(expected, views, variables);
  context.last = view;
  for (const [variable, source] of Object.entries(step.capture ?? {})) {
    const { else: otherwise, ...wanted } = fillTemplates(source, variables) as JsonObject;
    const found = readCapture(wanted, view);
    const value = found === undefined ? otherwise : found;
    if (value === undefined) {
      throw new ExpectationFailed(
        `Cannot capture "${variable}": the response has no ${JSON.stringify(source)}`,
      );
    }
    variables[variable] = value;
  }
}

/** Runs the action of a step of `self/` with the responses that it states. */
async function runScripted(
  step: Step,
  answers: readonly JsonObject[],
  context: VectorContext,
  computeContext: { seed: string; now(): number },
): Promise<View[]> {
  if (!context.isSelf) throw new KitError('Invalid step: "answers" is allowed in self/ only');
  const script = scriptedSender(fillTemplates(answers, context.variables) as readonly JsonObject[]);
  context.script = script;
  try {
    const views = await runAction(step, context, computeContext);
    if (script.unused.length > 0) {
      throw new KitError(`The step did not use ${script.unused.length} of its "answers"`);
    }
    return views;
  } finally {
    context.script = undefined;
  }
}

async function runAction(
  step: Step,
  context: VectorContext,
  computeContext: { seed: string; now(): number },
): Promise<View[]> {
  if (step.call !== undefined) {
    await compute(step.with, context.variables, computeContext);
    const { answer: before } = context.variables;
    await callProcedure(step.call, context, runStep);
    // An expectation beside the call sees the `answer` that this call set, not an earlier one.
    const { answer } = context.variables;
    if (!isJsonObject(answer) || answer === before) return [];
    context.last = { ...context.last, redirect: answer };
    const error = [answer["query"], answer["fragment"]].filter(isJsonObject).map((each) => each["error"])
      .find((each) => each !== undefined);
    if (step.call === "authorize" && !step.expect && error !== undefined) {
      throw new ProcedureFailed(`The server refused the authorization request: ${JSON.stringify(error)}`);
    }
    return [];
  }
  if (step.request || Array.isArray(step.parallel)) return await sendRequests(step, context);
  if (step.send) return [await sendMessages(step, context)];
  if (step.read !== undefined) return [await readStream(step, context)];
  if (step.close !== undefined) return [closeStream(step, context)];
  if (step.end) return [await endInput(context)];
  if (step.advance !== undefined) await advance(step, context);
  if (step.answer) return [await toStatedView(step, step.answer, context)];
  return [];
}

async function advance(step: Step, context: VectorContext): Promise<void> {
  const seconds = Number(fillTemplates(step.advance, context.variables));
  if (!(seconds >= 0)) throw new KitError('Invalid "advance": must be a number of seconds');
  if (context.target.procedures.has("advance")) {
    context.variables["seconds"] = seconds;
    await callProcedure("advance", context, runStep);
    context.target.advanced += seconds;
  } else if (seconds <= context.maxWaitSeconds) {
    await new Promise((resolve) => setTimeout(resolve, toTimerMs(seconds)));
  } else throw new NotClaimed("clock");
}

/** The view of a response that a vector of `self/` states. */
async function toStatedView(step: Step, answer: JsonObject, context: VectorContext): Promise<View> {
  const { isSelf, target, variables } = context;
  if (!isSelf) throw new KitError('Invalid step: "answer" is allowed in self/ only');
  const { status, headers = {}, body, url, broken } = fillTemplates(answer, variables) as Record<
    string,
    unknown
  >;
  const address = String(url ?? target.base);
  const fields = toFields(headers as JsonObject);
  if (step.as !== undefined) getJar(context, step.as).applySetCookie(address, fields);
  return await toView(
    {
      ...(status !== undefined && { status: Number(status) }),
      fields,
      ...(body !== undefined && { body: utf8(String(body)) }),
    },
    address,
    broken === undefined ? undefined : toBreak(broken),
  );
}

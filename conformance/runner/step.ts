/**
 * One step: `let`, the act, `expect`, `capture`, in this order (`FORMAT.md` section 2).
 *
 * @module
 */
import { ask, closeStream, jarOf, readStream } from "./exchange/ask_http.ts";
import { endInput, sendMessages } from "./exchange/ask_rpc.ts";
import { utf8 } from "./exchange/bytes.ts";
import { compute } from "./vector/compute.ts";
import { Broken } from "./exchange/exchange.ts";
import { checkViews, toPattern } from "./vector/expect.ts";
import { match } from "./vector/match.ts";
import { KitError, NotClaimed, Unexpected } from "./outcome.ts";
import { callProcedure } from "./target/procedure.ts";
import { fill } from "./vector/template.ts";
import { timerDelay } from "./exchange/timer.ts";
import { isMembers, type Members, type Step } from "./vector/vector_file.ts";
import { read, toView, type View } from "./vector/view.ts";
import { nowOf, type World } from "./world.ts";

/** @throws {Unexpected | KitError | NotClaimed} */
export async function runStep(step: Step, world: World): Promise<void> {
  const { variables, seed, name } = world;
  if (step.when && await match(toPattern(fill(step.when, variables)), world.last, variables)) return;
  const surroundings = { seed: `${seed}/${name}`, now: () => nowOf(world) };
  await compute(step.let, variables, surroundings);
  const views = await act(step, world, surroundings);
  const expected = step.expect && fill(step.expect, variables) as Members;
  if (views.length === 0) {
    if (!expected && !step.capture) return;
    views.push(world.last);
  }
  world.last = views[0]!;
  const view = await checkViews(expected, views, variables);
  world.last = view;
  for (const [variable, source] of Object.entries(step.capture ?? {})) {
    const { else: otherwise, ...wanted } = fill(source, variables) as Members;
    const found = read(wanted, view);
    const value = found === undefined ? otherwise : found;
    if (value === undefined) {
      throw new Unexpected(`"${variable}" cannot be captured: the answer has no ${JSON.stringify(source)}`);
    }
    variables[variable] = value;
  }
}

async function act(step: Step, world: World, surroundings: { seed: string; now(): number }): Promise<View[]> {
  if (step.call !== undefined) {
    await compute(step.with, world.variables, surroundings);
    const { answer: before } = world.variables;
    await callProcedure(step.call, world, runStep);
    // What the procedure left as `answer`, and none before it, is the redirect that an expectation beside the call sees.
    const { answer } = world.variables;
    if (isMembers(answer) && answer !== before) world.last = { ...world.last, redirect: answer };
    return [];
  }
  if (step.request || Array.isArray(step.parallel)) return await ask(step, world);
  if (step.send) return [await sendMessages(step, world)];
  if (step.read !== undefined) return [await readStream(step, world)];
  if (step.close !== undefined) return [closeStream(step, world)];
  if (step.end) return [await endInput(world)];
  if (step.advance !== undefined) await advance(step, world);
  if (step.answer) return [await stated(step, step.answer, world)];
  return [];
}

async function advance(step: Step, world: World): Promise<void> {
  const seconds = Number(fill(step.advance, world.variables));
  if (!(seconds >= 0)) throw new KitError('Cannot advance the clock: "advance" must be a number of seconds');
  if (world.target.procedures.has("advance")) {
    world.variables["seconds"] = seconds;
    await callProcedure("advance", world, runStep);
    world.target.advanced += seconds;
  } else if (seconds <= world.mostWaiting) {
    await new Promise((resolve) => setTimeout(resolve, timerDelay(seconds)));
  } else throw new NotClaimed("clock");
}

/** The view of an answer that a vector of `self/` states. */
async function stated(step: Step, answer: Members, world: World): Promise<View> {
  const { isSelf, target, variables } = world;
  if (!isSelf) throw new KitError('Cannot run the step: "answer" is for self/ only');
  const { status, headers = {}, body, url, broken } = fill(answer, variables) as Record<string, unknown>;
  const address = String(url ?? target.base);
  const fields = Object.entries(headers as Members).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)] as const)
  );
  if (step.as !== undefined) jarOf(world, step.as).take(address, fields);
  return await toView(
    {
      ...(status !== undefined && { status: Number(status) }),
      fields,
      ...(body !== undefined && { body: utf8(String(body)) }),
    },
    address,
    broken === undefined ? undefined : new Broken(broken as Broken["word"], "as the vector says"),
  );
}

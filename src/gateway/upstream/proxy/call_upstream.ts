/**
 * Serves a call by a request to its upstream. How the upstream asks the client for input depends on the revisions of both:
 *
 * - A client with a handshake is asked while the request waits.
 * - A client of 2026-07-28 ends the run and calls again. An upstream of 2026-07-28 does the same: its `requestState` is kept
 *   between the runs. The request to another upstream is held meanwhile (`held_calls.ts`).
 *
 * @module
 */
import { isObject } from "../../../json_schema/value.ts";
import type { Json } from "../../../store/store.ts";
import type { CallContext } from "../../../mcp/context.ts";
import { MODERN } from "../../../mcp/era.ts";
import { Suspension } from "../../../mcp/input/suspension.ts";
import { type ClientExchange, type JsonObject, TASKS_EXTENSION } from "../../../mcp_client/client.ts";
import { UpstreamFailure } from "../failure.ts";
import { type CallTarget, type ConnectedSession, uncancelled } from "./call_target.ts";
import { connectUser, findRequiredUrls, openUrls } from "./connect_user.ts";
import { canAnswer, createRelay } from "./exchange.ts";
import { followTask, readTask, requiresTasks, type TaskReference } from "./follow_task.ts";
import { HeldCall } from "./held_calls.ts";
import { answerUpstream, relayRequest } from "./relay_input.ts";

type Params = Readonly<JsonObject>;

/** How often an upstream may ask for input in one call. */
const MAX_ROUNDS = 32;
/** Characters of what is kept between two runs. */
const MAX_KEPT_CHARACTERS = 262_144;

/**
 * Sends a request and returns its result, after all input that the upstream asks for.
 * @throws {McpError} @throws {ConnectionError} @throws {UpstreamFailure} @throws {BusyError}
 * @throws {Suspension} where the run ends until the client answers
 */
export async function callUpstream(
  target: CallTarget,
  method: string,
  params: Params,
  context: CallContext,
): Promise<JsonObject> {
  for (let attempt = 1;; attempt++) {
    try {
      return await callOnce(target, method, params, context);
    } catch (error) {
      if (attempt === 2 || error instanceof Suspension) throw error;
      // What the user must do first: then the upstream did not execute the call.
      const urls = findRequiredUrls(error, context);
      if (urls) await openUrls(urls, target, context);
      else await connectUser(error, target, context);
    }
  }
}

async function callOnce(
  target: CallTarget,
  method: string,
  params: Params,
  context: CallContext,
): Promise<JsonObject> {
  // A call that is cancelled from its start still cancels its task.
  const entered = target.enter(context.signal.aborted ? uncancelled(context) : context);
  const session = entered instanceof Promise ? await entered : entered;
  const over = Promise.withResolvers<void>();
  let away: Promise<void> | undefined;
  // A task can run for hours: it takes no place among the calls.
  const onTask = (): void => void (away ??= target.whileWaiting(() => over.promise));
  const leave = async (error?: unknown): Promise<void> => {
    over.resolve();
    // Who is away has no place that could pass on to a call that waits.
    if (away) await away;
    target.leave(session, error);
  };
  try {
    const isModern = context.revision >= MODERN;
    const result = isModern && session.info.revision >= MODERN && (canAnswer(context) || context.can("tasks"))
      ? await callInRounds(target, session, method, params, context, onTask)
      : isModern && session.info.revision < MODERN && canAnswer(context)
      ? await callHeld(target, session, method, params, context, onTask)
      : await callDirectly(target, session, method, params, context, onTask);
    await leave();
    return result;
  } catch (error) {
    await leave(error);
    throw error;
  }
}

/** One request; the client is asked while it waits. */
async function callDirectly(
  target: CallTarget,
  session: ConnectedSession,
  method: string,
  params: Params,
  context: CallContext,
  onTask: () => void,
): Promise<JsonObject> {
  let isTask = false;
  const relay = createRelay(() => context, target.timeout, (method, params) => {
    rememberElicitation(session, params, context);
    const answer = () => answerUpstream(context, target, method, params);
    return isTask ? answer() : target.whileWaiting(answer);
  });
  const exchange: ClientExchange = {
    ...relay.exchange,
    onTask() {
      isTask = true;
      onTask();
    },
  };
  try {
    const result = await session.client.request(method, params, exchange);
    await relay.settled();
    return result;
  } catch (error) {
    // A client of 2026-07-28 can declare the extension. For others the task is followed here.
    if (context.revision >= MODERN || !requiresTasks(error)) throw error;
    const { capabilities } = exchange;
    const extensions = { ...capabilities?.extensions, [TASKS_EXTENSION]: {} };
    return await session.client.request(method, params, {
      ...exchange,
      capabilities: { ...capabilities, extensions },
    });
  } finally {
    // It holds all that the client sent, and after the end nothing reaches the client.
    for (const [id, of] of session.elicitations) if (of === context) session.elicitations.delete(id);
  }
}

/** What is kept of an answer between two runs. */
type Kept = {
  /** The digest of the server that answered; absent with a final result, and in calls that an earlier version began. */
  readonly server?: string;
  readonly inputRequests?: Json;
  readonly requestState?: Json;
  readonly final?: { readonly [name: string]: Json };
  readonly task?: TaskReference & { readonly [name: string]: Json };
};

/** Both sides of 2026-07-28: each round of the upstream is a round of the client. */
async function callInRounds(
  target: CallTarget,
  session: ConnectedSession,
  method: string,
  params: Params,
  context: CallContext,
  onTask: () => void,
): Promise<JsonObject> {
  const relay = createRelay(() => context, target.timeout, undefined);
  const used = new Map<string, number>();
  let retry: JsonObject = {};
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    let final: JsonObject | undefined;
    const kept = await context.once(`upstream:${round}`, async (): Promise<Json> => {
      const result = await session.client.requestOnce(method, { ...params, ...retry }, relay.exchange);
      const server = target.serverDigest;
      if (result.resultType === "input_required") return { ...toKept(result), server };
      if (result.resultType === "task") return { task: readTask(result) as unknown as Json, server };
      final = result;
      return toFinal(result);
    }) as Kept | null;
    if (final) {
      await relay.settled();
      return final;
    }
    // A copy, since results are changed in place.
    if (kept?.final) return structuredClone(kept.final);
    if (!kept) throw new UpstreamFailure("has executed the call, but its result was not kept.");
    // What it kept, and what the user answered it, is for no other server that has its name by now.
    if (kept.server !== undefined && kept.server !== target.serverDigest) {
      throw new UpstreamFailure("was replaced by another server during the call. Call the tool again.");
    }
    const ask = (requests: JsonObject): Promise<JsonObject> => askAll(target, requests, used, context);
    const { task } = kept;
    if (task) {
      onTask();
      return await followTask(target, task, context, relay.exchange, ask);
    }
    retry = {
      ...(isObject(kept.inputRequests) && { inputResponses: await ask(kept.inputRequests) }),
      ...(kept.requestState !== undefined && { requestState: kept.requestState }),
    };
  }
  throw new UpstreamFailure(`asked for input more than ${MAX_ROUNDS} times in one call.`);
}

/** What is kept of a final result, since middleware that asks the client after the call begins another run. */
function toFinal(result: JsonObject): Json {
  return JSON.stringify(result).length <= MAX_KEPT_CHARACTERS ? { final: result as Json } : null;
}

/** @throws {UpstreamFailure} when it is too large */
function toKept({ inputRequests, requestState }: JsonObject): { readonly [name: string]: Json } {
  const kept = {
    ...(isObject(inputRequests) && { inputRequests }),
    ...(typeof requestState === "string" && { requestState }),
  } as { readonly [name: string]: Json };
  if (JSON.stringify(kept).length > MAX_KEPT_CHARACTERS) {
    throw new UpstreamFailure(`asked for input with more than ${MAX_KEPT_CHARACTERS} characters.`);
  }
  return kept;
}

/** Asks the client for all inputs at once. @throws {Suspension} */
async function askAll(
  target: CallTarget,
  requests: JsonObject,
  used: Map<string, number>,
  context: CallContext,
): Promise<JsonObject> {
  const asked = Object.entries(requests).map(async ([name, request]): Promise<[string, unknown]> => {
    const { method, params } = isObject(request) ? request : {};
    // The upstream's own key, unless an earlier round had it.
    const times = (used.get(name) ?? 0) + 1;
    used.set(name, times);
    const key = times === 1 ? name : `${name}_${times}`;
    return [name, await relayRequest(context, target, String(method), isObject(params) ? params : {}, key)];
  });
  await Promise.allSettled(asked);
  return Object.fromEntries(await Promise.all(asked));
}

/** A client of 2026-07-28 and an upstream with a handshake. */
async function callHeld(
  target: CallTarget,
  session: ConnectedSession,
  method: string,
  params: Params,
  context: CallContext,
  onTask: () => void,
): Promise<JsonObject> {
  const { held } = session;
  let call: HeldCall | undefined;
  let final: JsonObject | undefined;
  const begun = await context.once("upstream:held", async (): Promise<Json> => {
    call = new HeldCall(context, async (signal, onServerRequest, current) => {
      const relay = createRelay(current, target.timeout, onServerRequest, signal);
      const result = await session.client.request(method, params, {
        ...relay.exchange,
        onTask: () => call!.becomeTask(),
      });
      await relay.settled();
      return result;
    });
    call.attach(context, onTask);
    if (await call.next()) {
      call.detach();
      // A failure is not kept: the next run may try again.
      return toFinal(final = await call.result);
    }
    return call.id;
  });
  if (final) return final;
  if (typeof begun === "string") call ??= held.take(begun);
  if (!call) {
    const ended = begun as Kept | null;
    const kept = ended?.final ? ended : await context.once("upstream:final", () => null) as Kept | null;
    if (kept?.final) return structuredClone(kept.final);
    throw new UpstreamFailure(
      "waited for input in a call that has ended, or runs at another instance. Call the tool again.",
    );
  }
  call.attach(context, onTask);
  while (!await call.next()) {
    const asked = [...call.open.values()].map(async (request) => {
      try {
        const answer = await answerUpstream(context, target, request.method, request.params, request.key);
        request.answer(Promise.resolve(answer));
      } catch (error) {
        if (error instanceof Suspension) throw error;
        request.answer(Promise.reject(error));
      }
    });
    const outcomes = await Promise.allSettled(asked);
    const ended = outcomes.find((each) => each.status === "rejected");
    if (ended) {
      held.hold(call);
      throw ended.reason;
    }
  }
  call.detach();
  const result = await call.result;
  await context.once("upstream:final", () => toFinal(result));
  return result;
}

/** How many elicitations at a URL are remembered, so that their completion reaches the client. */
const MAX_ELICITATIONS = 1000;

function rememberElicitation(
  { elicitations }: ConnectedSession,
  { elicitationId }: JsonObject,
  context: CallContext,
): void {
  if (typeof elicitationId !== "string") return;
  elicitations.set(elicitationId, context);
  if (elicitations.size > MAX_ELICITATIONS) elicitations.delete(elicitations.keys().next().value!);
}

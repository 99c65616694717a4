/**
 * The policy of a gateway: who sees what, and what happens with each call.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { RpcError, SERVER_ERROR } from "../../jsonrpc/error.ts";
import type { CallContext } from "../../mcp/context.ts";
import { ToolError } from "../../mcp/definition/definition.ts";
import type { Middleware } from "../../mcp/definition/group.ts";
import { MODERN } from "../../mcp/era.ts";
import { Suspension } from "../../mcp/input/suspension.ts";
import { NotApproved } from "./approval_question.ts";
import { createAsk } from "./ask.ts";
import { createCallLimits, type LimitRefusal } from "./call_limits.ts";
import { createCallRecorder, type Ending, type RecordedUse } from "./call_record.ts";
import { createCompletionGuard, type GuardCompletions } from "./completion_guard.ts";
import { createDecisionPoint } from "./decision_point.ts";
import { nameOfUse, type OfferedDefinition } from "./offered.ts";
import type { PolicyOptions } from "./policy_options.ts";
import type { PolicyServer } from "./policy_server.ts";
import { checkMembers, compileRules, nameOf, type Verdict } from "./rules.ts";
import { onceForCall, StateUsedError } from "./single_use.ts";

export type { PolicyServer };

/** A policy that is checked and compiled. */
export interface Policy {
  /** Whether the caller sees it in lists. Rules with conditions on arguments hide nothing; nor do those that ask. */
  isVisible(definition: OfferedDefinition, caller: Principal | undefined): boolean;
  /** Whether the rules deny a use whose arguments, or variables, are final. The decision point is not asked. */
  isDenied(definition: OfferedDefinition, input: unknown, caller: Principal | undefined): boolean;
  /** Decides each use, asks the user where a rule says so, counts limits, and records the event. */
  readonly middleware: Middleware;
  /** As {@linkcode Policy.middleware}, for completions. A use that the user would be asked about has none. */
  readonly guardCompletions: GuardCompletions;
}

/** A call that the policy refuses. */
class Refusal extends Error {
  readonly ending: Ending;

  constructor(ending: Ending, message: string) {
    super(message);
    this.ending = ending;
  }
}

const MEMBERS: ReadonlySet<string> = new Set<keyof PolicyOptions>([
  "default",
  "rules",
  "limits",
  "ask",
  "audit",
  "decisionPoint",
]);

/**
 * Checks and compiles a policy.
 * @throws {TypeError} naming the place, such as `policy.rules[2].when`
 */
export function createPolicy(options: PolicyOptions, server: PolicyServer): Policy {
  checkMembers(options, MEMBERS, "");
  const { now, observe, implied } = server;
  const onFailure = (error: unknown): void => observe({ type: "fault", where: "gateway policy", error });
  const rules = compileRules(options, implied);
  const limits = createCallLimits(options.limits ?? [], { ...server, onFailure });
  const recorder = createCallRecorder(options.audit ?? {}, observe);
  const ask = createAsk(options.ask ?? {}, server);
  const point = options.decisionPoint &&
    createDecisionPoint(options.decisionPoint, { now, fetch: server.fetch, onFailure });

  /** @throws {Refusal} */
  async function refuseDenied(
    { effect, reason, place }: Verdict,
    use: RecordedUse,
    caller: Principal | undefined,
  ) {
    if (effect === "deny") {
      const why = reason === undefined ? "" : `: ${reason}`;
      throw new Refusal({ outcome: "denied", reason: place }, `Denied by policy${why}`);
    }
    const decision = point ? await point.decide(use.definition, use.name, use.input, caller) : "allow";
    if (decision === "deny") {
      throw new Refusal({ outcome: "denied", reason: "decision_point" }, "Denied by policy");
    }
    if (decision === "failed") {
      const message = "Denied: the policy decision point did not answer. Try again later";
      throw new Refusal({ outcome: "denied", reason: "decision_point_failed" }, message);
    }
  }

  /** @throws {Refusal} */
  async function admitCompletion(use: RecordedUse, verdict: Verdict, caller: Principal | undefined) {
    await refuseDenied(verdict, use, caller);
    if (verdict.effect === "ask") {
      const message = "No completions: each use of this needs the approval of the user";
      throw new Refusal({ outcome: "denied", reason: verdict.place }, message);
    }
    refuseLimited(await limits.take(use.definition, use.name, use.input, caller));
  }

  /** @throws {Refusal} @throws {NotApproved} @throws {StateUsedError} */
  async function admit(use: RecordedUse, context: CallContext, number: number): Promise<void> {
    const { definition, name, input } = use;
    const { principal } = context;
    const verdict = rules.decide(definition, name, input, principal);
    await refuseDenied(verdict, use, principal);
    if (verdict.effect === "ask") await ask(use, verdict, context);
    if (limits.concern(definition, name)) refuseLimited(await takeOnce(use, context, number));
  }

  /** Counts a call for its limits; not again when it runs again with the answers of the client. */
  async function takeOnce({ definition, name, input }: RecordedUse, context: CallContext, number: number) {
    const take = async () => await limits.take(definition, name, input, context.principal) ?? null;
    if (context.revision < MODERN) return await take();
    return await onceForCall(
      context,
      server,
      `policy_limit_${number}`,
      async () => await take() as { place: string; message: string } | null,
    );
  }

  /** Records a call that asks the client, which may never answer. */
  async function recordSuspended(use: RecordedUse, context: CallContext, number: number, began: number) {
    await context.once(`policy_recorded_${number}`, () => {
      recorder.record(use, context, { outcome: "input_required" }, began);
      return true;
    });
  }

  const guardCompletions = createCompletionGuard(rules, async (use, verdict, context, run) => {
    const began = performance.now();
    try {
      await admitCompletion(use, verdict, context.principal);
      const result = await run();
      recorder.record(use, context, { outcome: "ok" }, began);
      return result;
    } catch (error) {
      recorder.record(use, context, endingOfError(error), began);
      throw error instanceof Refusal ? new RpcError(SERVER_ERROR, error.message) : error;
    }
  });

  return {
    isVisible: rules.isVisible,
    isDenied(definition, input, caller) {
      const name = nameOfUse(definition, nameOf(definition), input);
      return rules.decide(definition, name, input, caller).effect === "deny";
    },
    guardCompletions,
    middleware: async ({ definition, name, input, isCompletion }, context, next) => {
      // guardCompletions has decided.
      if (isCompletion) return await next();
      const use: RecordedUse = { definition, name: nameOfUse(definition, name, input), input };
      const number = numberOfCall(context);
      const began = performance.now();
      let isAdmitted = false;
      try {
        await admit(use, context, number);
        isAdmitted = true;
        const result = await next();
        if (isSuspended(context)) await recordSuspended(use, context, number, began);
        else recorder.record(use, context, endingOf(result), began);
        return result;
      } catch (error) {
        if (isSuspended(context) || error instanceof Suspension) {
          if (isAdmitted) await recordSuspended(use, context, number, began);
          throw error;
        }
        recorder.record(use, context, endingOfError(error, context.signal), began);
        if (
          error instanceof Refusal || error instanceof NotApproved || error instanceof StateUsedError
        ) {
          throw definition.kind === "tool"
            ? new ToolError(error.message)
            : new RpcError(SERVER_ERROR, error.message);
        }
        throw error;
      }
    },
  };
}

/** @throws {Refusal} */
function refuseLimited(refusal: Pick<LimitRefusal, "place" | "message"> | null | undefined): void {
  if (refusal) throw new Refusal({ outcome: "limited", reason: refusal.place }, refusal.message);
}

/** How many calls a request made in this run. */
const made = new WeakMap<CallContext, number>();

/** The number of a call in its request, which makes its calls in the same order in each run. */
function numberOfCall(context: CallContext): number {
  const number = made.get(context) ?? 0;
  made.set(context, number + 1);
  return number;
}

/** Whether the run ends here, and another follows with the answers of the client. */
function isSuspended(context: CallContext): boolean {
  const { inputs } = context as { readonly inputs?: { readonly pending: ReadonlyMap<string, unknown> } };
  return inputs !== undefined && inputs.pending.size > 0;
}

function endingOf(result: unknown): Ending {
  const isError = typeof result === "object" && result !== null &&
    (result as { readonly isError?: unknown }).isError === true;
  return { outcome: isError ? "error" : "ok" };
}

function endingOfError(error: unknown, signal?: AbortSignal): Ending {
  if (error instanceof Refusal) return error.ending;
  if (error instanceof NotApproved) return { outcome: error.outcome, reason: error.reason };
  if (error instanceof StateUsedError) return { outcome: "denied", reason: "state_used" };
  if (signal?.aborted) return { outcome: "cancelled" };
  return { outcome: isTimeout(error) ? "timeout" : "error" };
}

/** Whether the error, or one of its causes, is a timeout: a `DOMException`, or the reason of a `ConnectionError`. */
function isTimeout(error: unknown): boolean {
  let each = error;
  for (let depth = 0; depth < 4 && each instanceof Error; depth++, each = each.cause) {
    if (each.name === "TimeoutError" || (each as { readonly reason?: unknown }).reason === "timeout") {
      return true;
    }
  }
  return false;
}

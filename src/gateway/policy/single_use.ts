/**
 * What lets a call run, a count or an approval, is kept for the runs that follow with the answers of the client
 * (2026-07-28). The client has this state and could send it again: so a state that has such a value continues its call once.
 *
 * @module
 */
import { randomId, secretDigest } from "../../crypto/secret.ts";
import type { CallContext } from "../../mcp/context.ts";
import { usedApprovalKey } from "../../oauth/approvals/approval.ts";
import { type Json, putIfAbsent, type Store } from "../../store/store.ts";

/** Longer than a request state is valid (`inputs.ts`). */
export const USED_LIFETIME_MS = 3_600_000;

/** The state of the call was used by another request. */
export class StateUsedError extends Error {
  override readonly name = "StateUsedError";
}

interface SingleUseServer {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Requests whose state is used up, or has an id in this run. */
const entered = new WeakMap<CallContext, Promise<void>>();

/**
 * As {@linkcode CallContext.once}, for a value that lets the call run.
 * @throws {StateUsedError} when the state of the request was used before
 */
export async function onceForCall<Value extends Json>(
  context: CallContext,
  server: SingleUseServer,
  key: string,
  make: () => Promise<Value>,
): Promise<Value> {
  const enter = (): Promise<void> => {
    let entering = entered.get(context);
    if (!entering) entered.set(context, entering = enterRun(context, server));
    return entering;
  };
  const value = await context.once(key, async () => {
    const made = await make();
    // Before the value is kept: no state may have it without an id.
    await enter();
    return made;
  });
  await enter();
  return value;
}

/** Gives the state of this run an id of its own, and uses up that of the run before. */
async function enterRun(context: CallContext, server: SingleUseServer): Promise<void> {
  let last: string | undefined;
  let isLast = false;
  for (let run = 0; !isLast; run++) {
    const id: string = await context.once(`policy_run_${run}`, async () => {
      isLast = true;
      if (last !== undefined) await useUp(last, context, server);
      return randomId("");
    });
    last = id;
  }
}

/** @throws {StateUsedError} */
async function useUp(id: string, context: CallContext, { store, now }: SingleUseServer): Promise<void> {
  const key = usedApprovalKey(secretDigest(id));
  const { task } = context as { readonly task?: { readonly id: string } | undefined };
  // The store has the state of a task: an instance that takes the task over begins the same run again.
  const by = task ? secretDigest(task.id) : true;
  if (await putIfAbsent(store, key, by, now() + USED_LIFETIME_MS)) return;
  if (task && (await store.get(key))?.value === by) return;
  throw new StateUsedError("The answer to this call was used already. Call the tool again");
}

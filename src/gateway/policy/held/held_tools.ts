/**
 * The store of approved and of held tools.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../../store/retry.ts";
import { secretDigest } from "../../../crypto/secret.ts";
import type { Check, Entry, Key, Put, Store } from "../../../store/store.ts";
import type { DescriptionWarning } from "./description_warnings.ts";

/** What is approved of one tool of an MCP server. */
export interface ToolApproval {
  /** The digest of the description that is offered; absent while there is none. */
  readonly digest?: string;
  /** The description, unless it is too long to be kept. */
  readonly entry?: string;
  /** Milliseconds since the epoch. */
  readonly at?: number;
  /** Who approved it: `first list`, `new tool`, or the id of an administrator. */
  readonly by?: string;
  /** The id of the held tool. */
  readonly held?: string;
}

/** A tool with a description that is not approved. */
export interface HeldTool {
  readonly upstream: string;
  /** Whose list it is in: the user's partition, or "" for the list of all. */
  readonly space: string;
  readonly tool: string;
  readonly change: "new" | "changed";
  readonly digest: string;
  /** The description, unless it is too long to be kept. */
  readonly entry?: string;
  readonly warnings: readonly DescriptionWarning[];
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Whether an administrator rejected it. */
  readonly isRejected: boolean;
}

/** A held tool that no administrator decides about ends after this, and is held again when it is listed. */
export const HELD_LIFETIME_MS: number = 90 * 86_400_000;

const MAX_KEY_CHARACTERS = 200;

/** That the first list of an MCP server was approved. */
export const toolListKey = (upstream: string, space: string): Key => ["tool_list", upstream, short(space)];
const toolApprovalsPrefix = (upstream: string, space: string): Key => [
  "tool_approval",
  upstream,
  short(space),
];
export const toolApprovalKey = (upstream: string, space: string, tool: string): Key => [
  ...toolApprovalsPrefix(upstream, space),
  short(tool),
];
export const heldToolKey = (id: string): Key => ["held_tool", id];

/** The id of a held tool: of this description and no other. */
export function heldToolId(
  { upstream, space, tool, digest }: Pick<HeldTool, "upstream" | "space" | "tool" | "digest">,
): string {
  return secretDigest(JSON.stringify([upstream, space, tool, digest]));
}

/** Names of MCP servers can have any length. */
function short(name: string): string {
  return name.length <= MAX_KEY_CHARACTERS ? name : `sha256 ${secretDigest(name)}`;
}

/** All that is approved or held of a list, by the last part of the key. */
export async function readToolApprovals(
  store: Store,
  upstream: string,
  space: string,
): Promise<ReadonlyMap<string, Entry<ToolApproval>>> {
  const prefix = toolApprovalsPrefix(upstream, space);
  const found = new Map<string, Entry<ToolApproval>>();
  const limit = 1000;
  let after: Key | undefined;
  for (;;) {
    const page: Entry<ToolApproval>[] = await store.list(prefix, { limit, after });
    for (const entry of page) found.set(String(entry.key.at(-1)), entry);
    after = page.at(-1)?.key;
    if (page.length < limit) return found;
  }
}

/** Those of the held tools whose record has ended. */
export async function findEndedHolds(store: Store, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const ended = new Set<string>();
  const concurrency = 100;
  for (let at = 0; at < ids.length; at += concurrency) {
    await Promise.all(
      ids.slice(at, at + concurrency).map(async (id) => {
        if (!await store.get(heldToolKey(id))) ended.add(id);
      }),
    );
  }
  return ended;
}

/**
 * Approves a held tool: from now on this description is offered.
 * @param by the id of the administrator
 * @returns `undefined` when it is not held any more, such as after another change
 */
export function approveHeldTool(
  store: Store,
  id: string,
  by: string,
  now: number,
): Promise<HeldTool | undefined> {
  return retryLostRaces(async () => {
    const found = await findHeld(store, id);
    if (!found) return undefined;
    const { value, approval, check } = found;
    const { digest, entry } = value;
    const set = [{
      key: approval.key,
      value: { digest, ...(entry !== undefined && { entry }), at: now, by },
    }];
    return await store.commit({ check, set, remove: [heldToolKey(id)] }) ? value : LOST_RACE;
  });
}

/** Rejects a held tool: it is not offered, and stays in the list of held tools so that it can be approved later. */
export function rejectHeldTool(store: Store, id: string, now: number): Promise<HeldTool | undefined> {
  return retryLostRaces(async () => {
    const found = await findHeld(store, id);
    if (!found) return undefined;
    const { value, approval, check } = found;
    const rejected: HeldTool = { ...value, isRejected: true };
    const expires = now + HELD_LIFETIME_MS;
    const set: Put[] = [{ key: heldToolKey(id), value: rejected, expires }];
    // That of a new tool ends too.
    if (approval.value.digest === undefined) set.push({ key: approval.key, value: approval.value, expires });
    return await store.commit({ check, set }) ? rejected : LOST_RACE;
  });
}

/** A held tool, if it is the one that its tool has now. */
async function findHeld(store: Store, id: string): Promise<
  | { readonly value: HeldTool; readonly approval: Entry<ToolApproval>; readonly check: readonly Check[] }
  | undefined
> {
  const held = await store.get<HeldTool>(heldToolKey(id));
  if (!held) return undefined;
  const { upstream, space, tool } = held.value;
  const approval = await store.get<ToolApproval>(toolApprovalKey(upstream, space, tool));
  if (approval?.value.held !== id) return undefined;
  return {
    value: held.value,
    approval,
    check: [{ key: held.key, version: held.version }, { key: approval.key, version: approval.version }],
  };
}

/**
 * Writes to the store what became of tools of a list: approved without a person, or held until an administrator decides.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../../store/retry.ts";
import type { Put } from "../../../store/store.ts";
import { findDescriptionWarnings, type FindLookalikes } from "./description_warnings.ts";
import {
  HELD_LIFETIME_MS,
  type HeldTool,
  heldToolId,
  heldToolKey,
  type ToolApproval,
  toolApprovalKey,
} from "./held_tools.ts";
import type { HoldingServer } from "./holding.ts";
import type { DigestedTool, NamedTool } from "./tool_entry.ts";

/** Puts of one commit. */
const MAX_PUTS = 100;
/** A longer description is held and approved by its digest alone. */
const MAX_ENTRY_CHARACTERS = 64 * 1024;

/** A list of an MCP server: that of all, or that of a user. */
export type ListId = Pick<HeldTool, "upstream" | "space">;

/** Approves tools without an approval. Those that another instance approved meanwhile are left as they are. */
export async function approveTools(
  { store, now }: HoldingServer,
  { upstream, space }: ListId,
  tools: readonly NamedTool[],
  by: "first list" | "new tool",
): Promise<void> {
  const toPut = ({ name, digested }: NamedTool): Put => ({
    key: toolApprovalKey(upstream, space, name),
    value: { digest: digested.digest, ...keepEntry(digested), at: now(), by },
  });
  const add = (puts: readonly Put[]): Promise<boolean> =>
    store.commit({ check: puts.map(({ key }) => ({ key, version: null })), set: puts });
  for (let at = 0; at < tools.length; at += MAX_PUTS) {
    const puts = tools.slice(at, at + MAX_PUTS).map(toPut);
    if (!await add(puts)) { for (const put of puts) await add([put]); }
  }
}

/** Holds a tool, unless it is held with this description already. */
export async function holdTool(
  { store, now, observe }: HoldingServer,
  { upstream, space }: ListId,
  { name, tool, digested: { digest, text } }: NamedTool,
  findLookalikes: FindLookalikes,
): Promise<void> {
  const key = toolApprovalKey(upstream, space, name);
  const id = heldToolId({ upstream, space, tool: name, digest });
  await retryLostRaces(async () => {
    const entry = await store.get<ToolApproval>(key);
    const approval = entry?.value ?? {};
    if (approval.digest === digest) return;
    if (approval.held === id && await store.get(heldToolKey(id))) return;
    const held: HeldTool = {
      upstream,
      space,
      tool: name,
      change: approval.digest === undefined ? "new" : "changed",
      digest,
      ...keepEntry({ text }),
      warnings: findDescriptionWarnings(tool, findLookalikes),
      since: now(),
      isRejected: false,
    };
    const expires = now() + HELD_LIFETIME_MS;
    const done = await store.commit({
      check: [{ key, version: entry?.version ?? null }],
      set: [
        // A tool that was approved once is known for ever: it cannot come back as a new one.
        {
          key,
          value: { ...approval, held: id },
          expires: approval.digest === undefined ? expires : undefined,
        },
        { key: heldToolKey(id), value: held, expires },
      ],
      remove: approval.held === undefined || approval.held === id ? [] : [heldToolKey(approval.held)],
    });
    if (!done) return LOST_RACE;
    observe({
      type: "tool_held",
      upstream,
      tool: name,
      change: held.change,
      digest,
      warnings: [...new Set(held.warnings.map(({ code }) => code))].join(" "),
    });
  });
}

function keepEntry({ text }: Pick<DigestedTool, "text">): { readonly entry?: string } {
  return text.length <= MAX_ENTRY_CHARACTERS ? { entry: text } : {};
}

/**
 * Operations on tools of MCP servers that are held: they are new or changed, and are not offered until an administrator
 * approves their description.
 *
 * @module
 */
import {
  approveHeldTool,
  type HeldTool,
  heldToolKey,
  rejectHeldTool,
  type ToolApproval,
  toolApprovalKey,
} from "../../gateway/policy/held/held_tools.ts";
import type { Entry, Store } from "../../store/store.ts";
import { createSearch, listPage, type Page, pageInput, pageOf, type PageQuery } from "../list_page.ts";
import { type AdminOperation, notFound, type Schema, toIso } from "../operation.ts";
import { input, object, oneOf, orNull, text, time } from "../schema.ts";

/** A held tool in an answer. */
export interface AdminHeldTool {
  /** Of this description of the tool: another one has another id. */
  readonly id: string;
  readonly upstream: string;
  readonly tool: string;
  readonly user: string | null;
  readonly change: "new" | "changed";
  readonly status: "held" | "rejected";
  readonly since: string;
  readonly warnings: readonly {
    readonly code: string;
    readonly place: string;
    readonly detail: string;
  }[];
}

/** A held tool with its descriptions. */
export interface AdminHeldToolDetails extends AdminHeldTool {
  readonly description: string | null;
  readonly approved_description: string | null;
}

/** The path of a held tool. */
export interface HeldToolPath {
  readonly held_tool: string;
}

const ID: Schema = text("the id of the held tool, of this description and no other", { min: 1, max: 64 });
const PROPERTIES: Readonly<Record<string, Schema>> = {
  id: ID,
  upstream: text("the MCP server", { max: 1024 }),
  tool: text("its name at the MCP server", { max: 65_536 }),
  user: orNull(text("the user whose list it is in; null for the list of all", { max: 1024 })),
  change: oneOf(["new", "changed"], "whether no description of the tool was approved before"),
  status: oneOf(["held", "rejected"], "whether an administrator rejected it"),
  since: time("since when it is held"),
  warnings: {
    type: "array",
    items: object({
      code: text("what is suspicious"),
      place: text("where"),
      detail: text("the character, the name, or the beginning of the text"),
    }),
    description: "hints: a tool without warnings can be hostile, and one with warnings harmless",
  },
};
const DESCRIPTION =
  "name, title, description, schemas, annotations and _meta as JSON; null where they are too long";
const DETAILS: Schema = object({
  ...PROPERTIES,
  description: orNull(text(DESCRIPTION, { max: 262_144 })),
  approved_description: orNull(text("the same of what was approved last", { max: 262_144 })),
});
const PATH: Schema = input({ held_tool: ID }, ["held_tool"]);

export const listHeldTools: AdminOperation<PageQuery, Page<AdminHeldTool>> = {
  name: "listHeldTools",
  method: "GET",
  path: "/held_tools",
  summary: "List the tools of MCP servers that are held because they are new or changed",
  input: pageInput(),
  output: pageOf(object(PROPERTIES)),
  async run({ store }, query) {
    const isFound = createSearch<AdminHeldTool>(
      query.search,
      ({ id, upstream, tool }) => [id, upstream, tool],
    );
    return await listPage(store, [{ prefix: ["held_tool"], read: toAdminHeldTool }], query, isFound);
  },
};

export const showHeldTool: AdminOperation<HeldToolPath, AdminHeldToolDetails> = {
  name: "showHeldTool",
  method: "GET",
  path: "/held_tools/:held_tool",
  summary: "Show a held tool, with its description and the one that was approved last",
  input: PATH,
  output: DETAILS,
  async run({ store }, { held_tool: id }) {
    return await findDetails(store, id);
  },
};

export const approveTool: AdminOperation<HeldToolPath, void> = {
  name: "approveTool",
  method: "POST",
  path: "/held_tools/:held_tool/approve",
  summary: "Approve a held tool: it is offered with this description",
  input: PATH,
  output: undefined,
  subject: ({ held_tool }) => held_tool,
  async run({ store, actor, now }, { held_tool: id }) {
    if (!await approveHeldTool(store, id, actor, now())) throw notFound("Held tool", id);
  },
};

export const rejectTool: AdminOperation<HeldToolPath, void> = {
  name: "rejectTool",
  method: "POST",
  path: "/held_tools/:held_tool/reject",
  summary: "Reject a held tool: it stays in the list, and can be approved later",
  input: PATH,
  output: undefined,
  subject: ({ held_tool }) => held_tool,
  async run({ store, now }, { held_tool: id }) {
    if (!await rejectHeldTool(store, id, now())) throw notFound("Held tool", id);
  },
};

/** The operations of this file. */
export const HELD_TOOL_OPERATIONS: readonly AdminOperation[] = [
  listHeldTools,
  showHeldTool,
  approveTool,
  rejectTool,
];

function toAdminHeldTool({ key, value }: Entry<HeldTool>): AdminHeldTool {
  const { upstream, space, tool, change, since, isRejected, warnings } = value;
  return {
    id: String(key.at(-1)),
    upstream,
    tool,
    user: space === "" ? null : space,
    change,
    status: isRejected ? "rejected" : "held",
    since: toIso(since),
    warnings,
  };
}

async function findDetails(store: Store, id: string): Promise<AdminHeldToolDetails> {
  const held = await store.get<HeldTool>(heldToolKey(id));
  if (!held) throw notFound("Held tool", id);
  const { upstream, space, tool, entry } = held.value;
  const approval = await store.get<ToolApproval>(toolApprovalKey(upstream, space, tool));
  return {
    ...toAdminHeldTool(held),
    description: entry ?? null,
    approved_description: approval?.value.entry ?? null,
  };
}

/**
 * Compares each list of an MCP server with what was approved: a tool or skill that is new or changed is held until an administrator
 * approves it. So an update cannot change what a model is asked to do without a person who sees it.
 *
 * @module
 */
import { createAllowance } from "../../../http/network/allowance.ts";
import type { Entry } from "../../../store/store.ts";
import { isUpstreamSkill } from "../../upstream/upstream_definition.ts";
import { PolicyError } from "../condition.ts";
import type { OfferedDefinition } from "../offered.ts";
import { checkMembers } from "../rules.ts";
import { createLookalikes } from "./description_warnings.ts";
import { createFormerDefinitions } from "./former_definition.ts";
import {
  findEndedHolds,
  heldToolId,
  readToolApprovals,
  type ToolApproval,
  toolApprovalKey,
  toolListKey,
} from "./held_tools.ts";
import { withoutHeldFiles } from "./held_skills.ts";
import { approveTools, holdTool, type ListId } from "./hold_tool.ts";
import type { FilteredList, Holding, HoldingOptions, HoldingServer } from "./holding.ts";
import { nameTools, type UpstreamTool } from "./tool_entry.ts";

const MEMBERS: ReadonlySet<string> = new Set<keyof HoldingOptions>([
  "approveFirst",
  "newTools",
  "whileHeld",
  "users",
]);
/** Tools of one list that have a record. Others are not offered. */
const MAX_TOOLS = 10_000;
/** Held tools that one list adds; the others are held too, and added with the lists that follow. */
const MAX_NEWLY_HELD = 200;
/** Held tools that the lists of one MCP server, and of all, add in a day: each has a record and an event. */
const MAX_HELD_A_DAY = MAX_TOOLS;
const MAX_HELD_A_DAY_OVERALL = 10 * MAX_TOOLS;
const DAY_MS = 86_400_000;

/**
 * Checks the options.
 * @throws {TypeError} naming the option
 */
export function createHolding(options: HoldingOptions, server: HoldingServer): Holding {
  const { store, now, observe } = server;
  checkMembers(options, MEMBERS, "hold");
  const { approveFirst = true, newTools = "hold", whileHeld = "hide", users = "all" } = options;
  checkOption("approveFirst", approveFirst, [true, false]);
  checkOption("newTools", newTools, ["hold", "approve"]);
  checkOption("whileHeld", whileHeld, ["hide", "approved"]);
  checkOption("users", users, ["all", "each"]);
  if (newTools === "approve" && !approveFirst) {
    throw new PolicyError("hold.newTools", "must be hold where approveFirst is false");
  }
  const findFormer = createFormerDefinitions();
  const daily = createAllowance({
    perNetwork: MAX_HELD_A_DAY,
    overall: MAX_HELD_A_DAY_OVERALL,
    windowMs: DAY_MS,
    now,
  });

  /** The definition to offer for each tool; `undefined` for one that is not offered. */
  async function admit(
    list: ListId,
    tools: readonly UpstreamTool[],
  ): Promise<ReadonlyMap<OfferedDefinition, OfferedDefinition | undefined>> {
    const { upstream, space } = list;
    const named = await nameTools(tools);
    const marker = toolListKey(upstream, space);
    const [isKnown, approvals] = await Promise.all([
      store.get(marker),
      readToolApprovals(store, upstream, space),
    ]);
    const isFirst = !isKnown && approveFirst;
    const added = named.filter(({ name }) => !findApproval(approvals, list, name));
    let known = approvals;
    if (added.length > 0 && (isFirst || newTools === "approve")) {
      const admitted = added.slice(0, Math.max(0, MAX_TOOLS - approvals.size));
      await approveTools(server, list, admitted, isFirst ? "first list" : "new tool");
      known = await readToolApprovals(store, upstream, space);
    }
    if (isFirst && named.length > 0) {
      await store.commit({ check: [{ key: marker, version: null }], set: [{ key: marker, value: now() }] });
    }
    // What is approved has no end, and what is held has: it is held anew then, for administrators to see.
    const ended = await findEndedHolds(
      store,
      named.flatMap(({ name }) => {
        const { digest, held } = findApproval(known, list, name)?.value ?? {};
        return digest !== undefined && held !== undefined ? [held] : [];
      }),
    );
    const findLookalikes = createLookalikes(tools.map(({ name }) => name));
    const result = new Map<OfferedDefinition, OfferedDefinition | undefined>();
    let newlyHeld = 0;
    for (const each of named) {
      const { tool, name, digested } = each;
      const approval = findApproval(known, list, name)?.value;
      if (approval?.digest === digested.digest) {
        result.set(tool, tool);
        continue;
      }
      if (whileHeld === "approved" && approval?.entry !== undefined && tool.kind === "tool") {
        result.set(tool, findFormer(tool, approval.entry));
      }
      const id = heldToolId({ ...list, tool: name, digest: digested.digest });
      const isHeld = approval?.held === id && !ended.has(id);
      const hasRoom = approval !== undefined || known.size < MAX_TOOLS;
      if (!isHeld && hasRoom && newlyHeld++ < MAX_NEWLY_HELD && daily.take(upstream, 1) === 0) {
        await holdTool(server, list, each, findLookalikes);
      }
    }
    return result;
  }

  return {
    isPerUser: users === "each",
    async filter<Each extends OfferedDefinition>(
      upstream: string,
      partition: string,
      definitions: readonly Each[],
    ): Promise<FilteredList<Each>> {
      const tools = definitions.flatMap((each: OfferedDefinition) => isUpstreamTool(each) ? [each] : []);
      const results = await admit({ upstream, space: users === "each" ? partition : "" }, tools);
      const offered: Each[] = [];
      const held: Each[] = [];
      for (const each of definitions) {
        const result = isUpstreamTool(each) ? results.get(each) : each;
        if (result) offered.push(result as Each);
        if (result !== each) held.push(each);
      }
      return { offered: withoutHeldFiles(offered, definitions), held };
    },
    watch(onChange) {
      const reader = store.watch(["tool_approval"]).getReader();
      const read = async (): Promise<void> => {
        for (;;) {
          const { value, done } = await reader.read();
          if (done) return;
          const upstreams = new Set(value.map((key) => key[1] === undefined ? undefined : String(key[1])));
          if (upstreams.has(undefined)) onChange(undefined);
          else for (const upstream of upstreams) onChange(upstream);
        }
      };
      read().catch((error) => observe({ type: "fault", where: "gateway held tools", error }));
      return () => void reader.cancel().catch(() => {});
    },
  };
}

function findApproval(
  approvals: ReadonlyMap<string, Entry<ToolApproval>>,
  { upstream, space }: ListId,
  name: string,
): Entry<ToolApproval> | undefined {
  return approvals.get(String(toolApprovalKey(upstream, space, name).at(-1)));
}

/** What the gateway offers itself, such as the tool that connects a user, does not change with the MCP server. */
function isUpstreamTool(definition: OfferedDefinition): definition is UpstreamTool {
  return (definition.kind === "tool" || isUpstreamSkill(definition)) && definition.isOwn !== true;
}

function checkOption(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (!allowed.includes(value)) throw new PolicyError(`hold.${name}`, `must be ${allowed.join(" or ")}`);
}

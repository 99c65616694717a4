/**
 * Compares each list of an MCP server with what was approved: a tool or skill that is new or changed is held until an administrator
 * approves it. So an update cannot change what a model is asked to do without a person who sees it.
 *
 * @module
 */
import { WorkSlice } from "../../../http/work_slice.ts";
import { LOST_RACE, retryLostRaces } from "../../../store/retry.ts";
import type { Entry, Put } from "../../../store/store.ts";
import { PolicyError } from "../condition.ts";
import type { ToolDefinition } from "../../../mcp/definition/definition.ts";
import { isUpstreamSkill } from "../../upstream/upstream_definition.ts";
import type { OfferedDefinition } from "../offered.ts";
import { checkMembers } from "../rules.ts";
import { createLookalikes, findDescriptionWarnings, type FindLookalikes } from "./description_warnings.ts";
import {
  findEndedHolds,
  HELD_LIFETIME_MS,
  type HeldTool,
  heldToolId,
  heldToolKey,
  readToolApprovals,
  type ToolApproval,
  toolApprovalKey,
  toolListKey,
} from "./held_tools.ts";
import type { FilteredList, Holding, HoldingOptions, HoldingServer } from "./holding.ts";
import { type DigestedTool, digestTool, republish, type ToolEntry, type UpstreamTool } from "./tool_entry.ts";

const MEMBERS: ReadonlySet<string> = new Set<keyof HoldingOptions>([
  "approveFirst",
  "newTools",
  "whileHeld",
  "users",
]);
/** Puts of one commit. */
const MAX_PUTS = 100;
/** Tools of one list that have a record. Others are not offered. */
const MAX_TOOLS = 10_000;
/** Held tools that one list adds; the others are held too, and added with the lists that follow. */
const MAX_NEWLY_HELD = 200;
/** A longer description is held and approved by its digest alone. */
const MAX_ENTRY_CHARACTERS = 64 * 1024;

/**
 * Checks the options.
 * @throws {TypeError} naming the option
 */
export function createHolding(options: HoldingOptions, { store, now, observe }: HoldingServer): Holding {
  checkMembers(options, MEMBERS, "hold");
  const { approveFirst = true, newTools = "hold", whileHeld = "hide", users = "all" } = options;
  checkOption("approveFirst", approveFirst, [true, false]);
  checkOption("newTools", newTools, ["hold", "approve"]);
  checkOption("whileHeld", whileHeld, ["hide", "approved"]);
  checkOption("users", users, ["all", "each"]);
  if (newTools === "approve" && !approveFirst) {
    throw new PolicyError("hold.newTools", "must be hold where approveFirst is false");
  }
  /** Definitions with the approved description, so that one definition has one object. */
  const formers = new WeakMap<
    OfferedDefinition,
    { readonly entry: string; readonly former: OfferedDefinition }
  >();

  /** Approves tools without an approval. Those that another instance approved meanwhile are left as they are. */
  async function approveAll(
    upstream: string,
    space: string,
    tools: readonly NamedTool[],
    by: string,
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
  async function hold(
    upstream: string,
    space: string,
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

  /** The definition to offer for each tool; `undefined` for one that is not offered. */
  async function admit(
    upstream: string,
    space: string,
    tools: readonly UpstreamTool[],
  ): Promise<ReadonlyMap<OfferedDefinition, OfferedDefinition | undefined>> {
    const named = await nameTools(tools);
    const marker = toolListKey(upstream, space);
    const [isKnown, approvals] = await Promise.all([
      store.get(marker),
      readToolApprovals(store, upstream, space),
    ]);
    const isFirst = !isKnown && approveFirst;
    const added = named.filter(({ name }) => !findApproval(approvals, upstream, space, name));
    let known = approvals;
    if (added.length > 0 && (isFirst || newTools === "approve")) {
      const admitted = added.slice(0, Math.max(0, MAX_TOOLS - approvals.size));
      await approveAll(upstream, space, admitted, isFirst ? "first list" : "new tool");
      known = await readToolApprovals(store, upstream, space);
    }
    if (isFirst && named.length > 0) {
      await store.commit({ check: [{ key: marker, version: null }], set: [{ key: marker, value: now() }] });
    }
    // What is approved has no end, and what is held has: it is held anew then, for administrators to see.
    const ended = await findEndedHolds(
      store,
      named.flatMap(({ name }) => {
        const { digest, held } = findApproval(known, upstream, space, name)?.value ?? {};
        return digest !== undefined && held !== undefined ? [held] : [];
      }),
    );
    const findLookalikes = createLookalikes(tools.map(({ name }) => name));
    const result = new Map<OfferedDefinition, OfferedDefinition | undefined>();
    let newlyHeld = 0;
    for (const each of named) {
      const { tool, name, digested } = each;
      const approval = findApproval(known, upstream, space, name)?.value;
      if (approval?.digest === digested.digest) {
        result.set(tool, tool);
        continue;
      }
      if (whileHeld === "approved" && approval?.entry !== undefined && tool.kind === "tool") {
        result.set(tool, findFormer(tool, approval.entry));
      }
      const id = heldToolId({ upstream, space, tool: name, digest: digested.digest });
      const isHeld = approval?.held === id && !ended.has(id);
      const hasRoom = approval !== undefined || known.size < MAX_TOOLS;
      if (!isHeld && hasRoom && newlyHeld++ < MAX_NEWLY_HELD) {
        await hold(upstream, space, each, findLookalikes);
      }
    }
    return result;
  }

  /** The definition with the approved description. */
  function findFormer(tool: OfferedDefinition & ToolDefinition, entry: string): OfferedDefinition {
    const kept = formers.get(tool);
    if (kept?.entry === entry) return kept.former;
    const { name: _, ...approved } = JSON.parse(entry) as ToolEntry;
    const { title: _1, description: _2, input: _3, output: _4, annotations: _5, _meta: _6, ...rest } = tool;
    const former = {
      ...rest,
      ...approved,
      input: republish(tool.input, approved.input),
      output: republish(tool.output, approved.output),
    } as unknown as OfferedDefinition;
    formers.set(tool, { entry, former });
    return former;
  }

  return {
    async filter<Each extends OfferedDefinition>(
      upstream: string,
      partition: string,
      definitions: readonly Each[],
    ): Promise<FilteredList<Each>> {
      const tools = definitions.flatMap((each: OfferedDefinition) => isUpstreamTool(each) ? [each] : []);
      const results = await admit(
        upstream,
        users === "each" ? partition : "",
        tools,
      );
      const offered: Each[] = [];
      const held: Each[] = [];
      for (const each of definitions) {
        const result = isUpstreamTool(each) ? results.get(each) : each;
        if (result) offered.push(result as Each);
        if (result !== each) held.push(each);
      }
      return { offered, held };
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

/** A tool with its name at the MCP server. */
interface NamedTool {
  readonly tool: UpstreamTool;
  readonly name: string;
  readonly digested: DigestedTool;
}

/** Of two tools with one name only the first counts, as for clients. */
async function nameTools(tools: readonly UpstreamTool[]): Promise<readonly NamedTool[]> {
  const named = new Map<string, NamedTool>();
  const slice = new WorkSlice();
  for (const tool of tools) {
    if (slice.isOver) await slice.yield();
    const name = tool.originalName ?? tool.name;
    const digested = digestTool(tool);
    if (digested && !named.has(name)) named.set(name, { tool, name, digested });
  }
  return [...named.values()];
}

function findApproval(
  approvals: ReadonlyMap<string, Entry<ToolApproval>>,
  upstream: string,
  space: string,
  name: string,
): Entry<ToolApproval> | undefined {
  return approvals.get(String(toolApprovalKey(upstream, space, name).at(-1)));
}

function keepEntry({ text }: Pick<DigestedTool, "text">): { readonly entry?: string } {
  return text.length <= MAX_ENTRY_CHARACTERS ? { entry: text } : {};
}

/** What the gateway offers itself, such as the tool that connects a user, does not change with the MCP server. */
function isUpstreamTool(definition: OfferedDefinition): definition is UpstreamTool {
  return (definition.kind === "tool" || isUpstreamSkill(definition)) && definition.isOwn !== true;
}

function checkOption(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (!allowed.includes(value)) throw new PolicyError(`hold.${name}`, `must be ${allowed.join(" or ")}`);
}

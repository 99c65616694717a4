/**
 * Usage of one skill, and of all skills in pages. Hosted services have no such endpoint.
 *
 * @module
 */
import { readCursor, writeCursor } from "../../crypto/cursor.ts";
import { parseForm } from "../../http/body/form.ts";
import { queryOf } from "../../http/router.ts";
import type { Endpoint, SkillsContext } from "./call.ts";
import { SkillError } from "../error.ts";
import { type SkillUsage, skillUsageKey } from "../records.ts";
import { findLocal, openSkill } from "./skill_endpoints.ts";
import type { Usage } from "./usage.ts";

export interface UsageEndpoints {
  readonly list: Endpoint;
  readonly retrieve: Endpoint;
}

const NONE = { count: 0, tokens: 0 };

export function usageEndpoints(context: SkillsContext, usage: Usage): UsageEndpoints {
  const { store, cursorKey } = context;
  return {
    async list({ request, principal: { workspace } }) {
      const { values } = parseForm(queryOf(request.url));
      const limit = values.get("limit") ?? "20";
      if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > 1000) {
        throw new SkillError("invalid_request_error", "limit must be an integer from 1 to 1000");
      }
      const purpose = `usage:${workspace}`;
      const page = values.get("page");
      const after = page === undefined ? undefined : readCursor(await cursorKey(), purpose, page);
      if (page !== undefined && !after) {
        throw new SkillError(
          "invalid_request_error",
          "page must be the next_page of a response of this endpoint",
        );
      }
      await usage.flush();
      const entries = await store.list<SkillUsage>(["skill_usage", workspace], {
        after: after && skillUsageKey(workspace, after[0]!),
        limit: Number(limit) + 1,
      });
      const shown = entries.slice(0, Number(limit));
      const last = shown.at(-1)?.key[2] as string | undefined;
      return JSON.stringify({
        data: shown.map(({ key, value }) => show(key[2] as string, value)),
        next_page: entries.length > shown.length ? writeCursor(await cursorKey(), purpose, [last!]) : null,
      });
    },

    async retrieve(call) {
      const { principal: { workspace }, id } = call;
      await usage.flush();
      const entry = await store.get<SkillUsage>(skillUsageKey(workspace, id));
      // Never used: the skill may still exist.
      if (entry) return JSON.stringify(show(id, entry.value));
      const { name } = await findLocal(context, id) ?? await openSkill(context, call);
      return JSON.stringify(show(id, {
        name,
        since: 0,
        last: 0,
        levels: { metadata: NONE, instructions: NONE, resources: NONE },
      }));
    },
  };
}

function show(skill_id: string, { name, since, last, levels }: SkillUsage): unknown {
  return {
    type: "skill_usage",
    skill_id,
    name,
    since: since === 0 ? null : new Date(since).toISOString(),
    last_used_at: last === 0 ? null : new Date(last).toISOString(),
    levels,
  };
}

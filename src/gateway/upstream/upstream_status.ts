/**
 * Describes the state of an upstream for operators, without secrets.
 *
 * @module
 */
import type { CallLimiter } from "../call_limiter.ts";
import type { UpstreamConfiguration } from "./configuration/configuration.ts";
import type { UpstreamSession } from "./session.ts";
import type { UpstreamStatus } from "./upstream_definition.ts";
import { MAX_LEFT_OUT, type UpstreamLists } from "./lists/upstream_lists.ts";

export function describeStatus(
  { name, target }: UpstreamConfiguration,
  sessions: readonly UpstreamSession[],
  { running, waiting }: Pick<CallLimiter, "running" | "waiting">,
  listsOf: (digest: string) => UpstreamLists | undefined,
): UpstreamStatus {
  const main = sessions.find((each) => each.state === "connected") ?? sessions.at(-1);
  const [newest] = sessions.flatMap(({ lastError }) => lastError ?? []).sort((a, b) => b.at - a.at);
  const info = main?.lastInfo;
  const lists = main?.lists.digest === undefined ? undefined : listsOf(main.lists.digest);
  const failed = [...main?.lists.raw?.failed ?? []].map(([list, { message }]) =>
    `${list}: ${message.slice(0, 300)}`
  );
  const { name: serverName = "", version = "" } = info?.serverInfo ?? {};
  return {
    name,
    transport: info?.transport ?? (target.type === "auto" ? "http" : target.type),
    server: target.type === "stdio" ? target.command : withoutQuery(target.url),
    state: main?.state ?? "idle",
    ...(info && {
      revision: info.revision,
      serverInfo: { name: String(serverName).slice(0, 200), version: String(version).slice(0, 100) },
    }),
    counts: {
      tools: lists?.tools.length ?? 0,
      resources: lists?.resources.length ?? 0,
      resourceTemplates: lists?.resourceTemplates.length ?? 0,
      prompts: lists?.prompts.length ?? 0,
      skills: lists?.skills.length ?? 0,
    },
    leftOut: [...failed, ...lists?.leftOut ?? []].slice(0, MAX_LEFT_OUT),
    sessions: sessions.filter(({ connected }) => connected).length,
    running,
    waiting,
    ...(newest && { lastError: newest.message, lastErrorAt: newest.at }),
  };
}

/** A query may contain a secret. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

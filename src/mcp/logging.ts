/**
 * `logging/setLevel`: the minimum log level of a session
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging). Deprecated in 2026-07-28, where each
 * request names its level in `_meta`.
 *
 * @module
 */
import type { Method } from "../jsonrpc/dispatch.ts";
import type { Call } from "./call.ts";
import type { LogLevel } from "./context.ts";
import { DEFAULT_LEVEL, parseLogLevel } from "./log_level.ts";
import { requireObject, requireString } from "./schema/params.ts";
import type { Session, Sessions } from "./session/session.ts";

/** The minimum log level of a session. */
export async function readLogLevel(sessions: Sessions, session: Session): Promise<LogLevel> {
  return (await sessions.settings(session).catch(() => undefined))?.level ?? DEFAULT_LEVEL;
}

/** `logging/setLevel` of the revisions with a handshake. Without a session it has no effect. */
export function loggingMethods(sessions: Sessions): [string, Method<Call>][] {
  return [["logging/setLevel", async (params, call) => {
    const level = parseLogLevel(requireString(requireObject(params), "level"));
    if (call.session) await sessions.change(call.session, call, (settings) => ({ ...settings, level }));
    return {};
  }]];
}

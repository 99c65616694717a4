/**
 * The scope `offline_access` (https://openid.net/specs/openid-connect-core-1_0.html#OfflineAccess).
 *
 * @module
 */
import type { Parameters } from "../parameters.ts";

/**
 * The scope to consider: `offline_access` counts only together with `prompt=consent` (§11), and is ignored otherwise.
 * @returns `undefined` when the request has no scope
 */
export function withoutOfflineAccess(parameters: Parameters): string | undefined {
  const scope = parameters.get("scope");
  const words = scope?.split(" ") ?? [];
  if (!words.includes("offline_access") || parameters.get("prompt")?.split(" ").includes("consent")) {
    return scope;
  }
  const kept = words.filter((word) => word !== "offline_access");
  return kept.length > 0 ? kept.join(" ") : scope;
}

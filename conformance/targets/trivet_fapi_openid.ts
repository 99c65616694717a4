/**
 * Trivet as a target in this process that has the FAPI 2.0 Security Profile and is an OpenID Provider.
 *
 * @module
 */
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_target.ts";

export function start(): Promise<TrivetTarget> {
  return startTrivet({ fapi: true, openid: true });
}
